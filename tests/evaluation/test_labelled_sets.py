"""Tests the readers of published labelled data sets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from swarmgate.errors import UsageError
from swarmgate.evaluation.labelled_sets import SETS

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.evaluation.case import Case


def _read(name: str, place: Path) -> list[Case]:
    return list(SETS[name].read(place))


def _write(root: Path, files: dict[str, str]) -> Path:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    return root


def test_bandit_examples_are_labelled_by_its_own_tests(tmp_path: Path) -> None:
    tests = (
        "class T:\n"
        "    def test_a(self):\n"
        "        expect = {'SEVERITY': {'LOW': 0, 'HIGH': 2}, 'CONFIDENCE': {'HIGH': 2}}\n"
        "        self.check_example('bad.py', expect)\n"
        "    def test_b(self):\n"
        "        expect = {'SEVERITY': {'LOW': 0}, 'CONFIDENCE': {'LOW': 0}}\n"
        "        self.check_example('fine.py', expect)\n"
    )
    files = {"examples/bad.py": "a", "examples/fine.py": "b", "tests/functional/test_functional.py": tests}
    found = {case.place: case.expected for case in _read("bandit", _write(tmp_path, files))}
    assert found == {"bad.py": True, "fine.py": False}


def test_leaky_repo_counts_files_with_a_secret(tmp_path: Path) -> None:
    rows = "# name,risk,informative\nweb/a.php,2,0\nweb/none.php,0,1\ngone.txt,1,1\n"
    files = {".leaky-meta/secrets.csv": rows, "web/a.php": "x", "web/none.php": "y"}
    assert [(case.place, case.expected) for case in _read("leaky-repo", _write(tmp_path, files))] == [
        ("web/a.php", True)
    ]


def test_an_owasp_case_has_its_category_and_weakness(tmp_path: Path) -> None:
    head = "# test name, category, real vulnerability, cwe\n"
    rows = f"{head}BenchmarkTest00001,sqli,true,89\nBenchmarkTest00002,xss,false,79\n"
    files = {
        "expectedresults-0.1.csv": rows,
        "testcode/BenchmarkTest00001.py": "1\n",
        "testcode/BenchmarkTest00002.py": "2\n",
    }
    one, two = _read("owasp", _write(tmp_path, files))
    assert (one.category, one.expected, set(one.cwes)) == ("sqli", True, {"CWE-89"})
    assert (two.category, two.expected) == ("xss", False)
    assert "CWE-79" in two.cwes


def test_quixbugs_programs_are_correct(tmp_path: Path) -> None:
    place = tmp_path / "q.jsonl"
    place.write_text(json.dumps({"name": "gcd", "correct": "def gcd(): ...\n", "buggy": "x"}) + "\n")
    cases = _read("quixbugs", place)
    assert {case.gate for case in cases} >= {"syntax_check", "placeholder_scan"}
    assert not any(case.expected for case in cases)


def test_labels_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    rows = [
        {"gate": "sast_scan", "expected": True, "path": "a.py", "cwe": "CWE-89", "line": 3, "category": "sql"},
        {"gate": "diff", "expected": False, "path": "b.py", "content": "x\n", "before": "y\n", "cwe": ["CWE-1"]},
    ]
    place = tmp_path / "set.jsonl"
    place.write_text("\n".join(map(json.dumps, rows)))
    one, two = _read("labels", place)
    assert (one.line, set(one.cwes), one.place) == (3, {"CWE-89"}, "a.py:3")
    assert one.after == {"a.py": b"x = 1\n"}
    assert (two.after, two.before, two.category) == ({"b.py": b"x\n"}, {"b.py": b"y\n"}, "diff")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "set.jsonl:2: not JSON"),
        ("[]", "set.jsonl:2: a case is a JSON object"),
        ('{"gate": "diff", "expected": true}', "set.jsonl:2: key 'path' is missing"),
        ('{"gate": "diff", "expected": "yes", "path": "a", "content": ""}', "`expected` is true or false"),
        ('{"gate": "diff", "expected": true, "path": "a", "content": 3}', "set.jsonl:2: "),
        ('{"gate": "diff", "expected": true, "path": "a", "content": "", "line": "x"}', "set.jsonl:2: "),
    ],
)
def test_a_wrong_label_is_named_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    place = tmp_path / "set.jsonl"
    place.write_text(f'{{"gate": "diff", "expected": true, "path": "a", "content": ""}}\n{line}\n')
    with pytest.raises(UsageError, match=message):
        _read("labels", place)


@pytest.mark.parametrize("name", ["bandit", "leaky-repo", "owasp"])
def test_a_folder_that_is_something_else_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        _read(name, tmp_path)
