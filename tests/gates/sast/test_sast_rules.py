"""Tests the Python and JavaScript security rules: each finds its positive samples and no negative ones.

`ruleid: <id>` marks the line below as one that must be found, `ok: <id>` as one that must not.
"""

from __future__ import annotations

import ast
import asyncio
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from swarmgate.errors import ConfigError
from swarmgate.gates.confinement import by_hand
from swarmgate.gates.definition import GateDefinition
from swarmgate.gates.job import Job
from swarmgate.gates.project.files import language_of
from swarmgate.gates.project.index import Project
from swarmgate.gates.sast import python_scan, rules, semgrep, worker
from swarmgate.gates.sast.flows import rule as flows
from swarmgate.gates.sast.hit import Scanned
from swarmgate.gates.sast.prefilter import words_of
from swarmgate.gates.sast.temporary_copies import copies
from swarmgate.gates.source.file import SourceFile

SAMPLES = Path(__file__).parents[1] / "samples" / "sast"
LANGUAGES = ("python", "javascript")
MARK = re.compile(r"(?:#|//)\s*(ruleid|ok):\s*([\w.\-]+)")


def ours(language: str) -> tuple[rules.Rule, ...]:
    return tuple(rule for rule in rules.load() if rule.id.startswith(f"swarmgate.{language}."))


def marks(language: str, kind: str) -> set[tuple[str, int, str]]:
    found = set()
    for path in sorted((SAMPLES / language).iterdir()):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            mark = MARK.search(line)
            if mark and mark[1] == kind:
                found.add((path.name, number + 1, mark[2]))
    return found


def scan(tmp_path: Path, contents: dict[str, bytes]) -> Scanned:
    sources = tuple(SourceFile.of(name, language_of(name), content=content) for name, content in contents.items())
    gate = GateDefinition(id="sast_scan", title="t", adapter="sast")
    repository: Any = SimpleNamespace(root=tmp_path)
    change: Any = SimpleNamespace(base="")
    with copies(sources) as files:
        project, confined = Project.of(repository, "", ""), by_hand(tmp_path)
        job = Job(gate, repository, change, sources, 60.0, project=project, commands=lambda: confined)
        return asyncio.run(semgrep.scan(job, files))


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_find_what_their_samples_mark(language: str, tmp_path: Path) -> None:
    scanned = scan(tmp_path, {path.name: path.read_bytes() for path in (SAMPLES / language).iterdir()})
    assert (scanned.error, scanned.unread, scanned.partly) == ("", {}, {})
    found = {(hit.path, hit.line, hit.code) for hit in scanned.hits}
    assert marks(language, "ruleid") - found == set()
    assert found & marks(language, "ok") == set()


def test_our_interpreter_finds_the_same_flows_in_the_samples() -> None:
    followed = {rule.id: rule for rule in rules.load() if rule.flow}
    known = flows.Flows(rule.flow for rule in followed.values() if rule.flow)
    looked = python_scan.PythonScan()
    for path in (SAMPLES / "python").iterdir():
        said = worker.scan(str(path), path.read_bytes(), known, followed=True)
        looked.take(path.name, said, followed)
    assert (looked.unparsed, looked.flows.partly) == ({}, {})
    found = {(hit.path, hit.line, hit.code) for hit in looked.flows.hits}
    assert {mark for mark in marks("python", "ruleid") if mark[2] in followed} == found


def test_flows_are_well_formed() -> None:
    for rule in rules.load():
        if rule.flow:
            flows.check(rule.flow)
    with pytest.raises(ConfigError, match="no regular expression"):
        flows.check(flows.read("r", {"from": ["web"], "sinks": ["f(0)"], "clean": "("}))
    with pytest.raises(ConfigError, match="is no sink"):
        flows.read("r", {"from": ["web"], "sinks": ["f 0"]})
    with pytest.raises(ConfigError, match="unknown key 'sink'"):
        flows.read("r", {"from": ["web"], "sinks": [], "sink": []})


def test_the_folders_speak_of_the_languages_that_they_are_said_to() -> None:
    for folder, languages in rules.FOLDERS.items():
        assert frozenset().union(*(rule.languages for rule in ours(folder))) == languages


def test_kept_rules_are_those_that_were_read(tmp_path: Path) -> None:
    languages = frozenset({"python"})
    first = rules.load_cached(languages, tmp_path)
    rules.load_cached.cache_clear()
    (kept,) = tmp_path.iterdir()
    assert rules.load_cached(languages, tmp_path) == first == ours("python")
    kept.write_text("[[")
    rules.load_cached.cache_clear()
    assert rules.load_cached(languages, tmp_path) == first
    rules.load_cached.cache_clear()


@pytest.mark.parametrize(("language", "least"), [("python", 45), ("javascript", 30)])
def test_every_rule_has_both_kinds_of_sample(language: str, least: int) -> None:
    names = {rule.id for rule in ours(language)}
    assert len(names) >= least
    for kind in ("ruleid", "ok"):
        assert {rule for _, _, rule in marks(language, kind)} == names


@pytest.mark.slow
def test_the_engine_takes_every_rule_that_ships(tmp_path: Path) -> None:
    """A rule that the engine cannot read is an error of the scan, never a rule less."""
    words = " ".join(word for path in (SAMPLES / "python").iterdir() for word in sorted(words_of(path.read_text())))
    told = f"# {words} <html a[0][1] =".encode()
    scanned = scan(tmp_path, {"a.py": told, "b.js": b"req\n", "c.ts": b"location\n"})
    assert scanned.error == ""
    assert len(scanned.rules) == len(rules.for_languages(rules.load(), {"python", "javascript", "typescript"}))


def test_rules_without_a_source_in_the_file_are_left_out(tmp_path: Path) -> None:
    plain = scan(tmp_path, {"a.py": b"import hashlib\nhashlib.md5(b'')\n"})
    assert [hit.code for hit in plain.hits] == ["swarmgate.python.weak-hash"]
    taint = {rule.id for rule in ours("python") if rule.raw.get("mode") == "taint" and rule.needs}
    assert len(taint) > 10
    assert not plain.rules & taint


def test_the_engine_is_not_asked_of_files_that_lack_the_names_of_its_patterns(tmp_path: Path) -> None:
    plain = scan(tmp_path, {"a.py": b"from hashlib import md5 as h\nh(b'')\n", "b.py": b"x = 1\n", "c.py": b"(\n"})
    assert [(hit.path, hit.code) for hit in plain.hits] == [("a.py", "swarmgate.python.weak-hash")]
    assert (plain.error, plain.unread) == ("", {})


def test_a_rule_concerns_each_of_its_samples_by_itself() -> None:
    """The part of a sample file that a finding stands in, with the imports, holds all that its rule needs."""
    own = {rule.id: rule for rule in ours("python") if not rule.flow}
    asked = 0
    for path in (SAMPLES / "python").iterdir():
        text = path.read_text()
        lines, parts = text.splitlines(), ast.parse(text).body
        imports = [ast.unparse(part) for part in parts if isinstance(part, ast.Import | ast.ImportFrom)]
        for name, line, code in marks("python", "ruleid"):
            if name != path.name or code not in own:
                continue
            part = next(part for part in reversed(parts) if first_line(part) <= line)
            chunk = "\n".join([*imports, *lines[first_line(part) - 1 : part.end_lineno]])
            asked += 1
            assert own[code].concerns("python", chunk, words_of(chunk)), (name, line, code)
    assert asked >= len(own)


def first_line(part: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(part, "decorator_list", [])
    return min([part.lineno, *(each.lineno for each in decorators)])


@pytest.mark.parametrize(
    ("part", "text", "expected"),
    [
        ("pattern: hashlib.md5(...)", "import hashlib", False),
        ("pattern: hashlib.md5(...)", "from hashlib import md5 as h", True),
        ('pattern: $A["secure"] = False', "", True),
        ("pattern: modes.$M(b'...')", "modes", True),
        ("pattern-either: [{pattern: a.b}, {pattern: c}]", "a c2", False),
        ("pattern-either: [{pattern: a.b}, {pattern: c}]", "c", True),
        ("pattern-either: [{pattern: a.b}, {pattern: $X = 1}]", "", True),
        ("patterns: [{pattern: a}, {pattern-not: b}]", "a", True),
        ("patterns: [{pattern: a}, {pattern-inside: 'def f(...): ...'}]", "a", False),
        ("patterns: [{pattern: $X.$M()}, {metavariable-regex: {metavariable: $M, regex: ^(a|b)$}}]", "c", False),
        ("patterns: [{pattern: $X.$M()}, {metavariable-regex: {metavariable: $M, regex: ^(a|b)$}}]", "b", True),
        ("patterns: [{pattern: 'f($M)'}, {metavariable-regex: {metavariable: $M, regex: ^(a|b)$}}]", "f", True),
        ("mode: taint\n    pattern: a", "", True),
        ("needs: x+y\n    pattern: $A", "xx y", False),
        ("needs: x+y\n    pattern: $A", "xxy", True),
    ],
)
def test_what_a_rule_needs(tmp_path: Path, part: str, text: str, *, expected: bool) -> None:
    (rule,) = rules.load_from(write_rules(tmp_path, f"{RULE}    {part}\n"))
    assert rule.concerns("python", text, words_of(text)) is expected
    assert "needs" not in rule.raw


def test_a_rule_says_what_is_wrong_and_the_fix() -> None:
    for rule in (*ours("python"), *ours("javascript")):
        assert re.fullmatch(r"A(0[1-9]|10):2021", rule.owasp), rule.id
        assert len(re.findall(r"[.?](?:\s|$)", rule.message)) >= 2, rule.id


def write_rules(root: Path, text: str, shared: str = "") -> Path:
    (root / "python").mkdir()
    (root / "python" / "a.yaml").write_text(text)
    if shared:
        (root / "python" / rules.SHARED).write_text(shared)
    return root


RULE = """
rules:
  - id: swarmgate.python.a
    languages: [python]
    severity: HIGH
    message: "Wrong. Right."
    metadata: {cwe: CWE-1, owasp: "A03:2021", category: security, confidence: HIGH}
"""


def test_shared_parts_and_refusals_are_expanded(tmp_path: Path) -> None:
    text = f"{RULE}    options: {{use: o}}\n    pattern-either: [{{use: p}}, {{refused-if: not $X}}]\n"
    (rule,) = rules.load_from(write_rules(tmp_path, text, "o: {a: true}\np: [{pattern: x}, {pattern: y}]\n"))
    assert rule.raw["options"] == {"a": True}
    either = rule.raw["pattern-either"]
    assert [next(iter(each)) for each in either] == ["pattern"] * 2 + ["pattern-inside"] * 3
    assert either[2]["pattern-inside"] == "if not $X:\n    ...\n    return ...\n..."


def test_a_condition_goes_to_the_alternatives_that_bind_it(tmp_path: Path) -> None:
    condition = "{metavariable-regex: {metavariable: $Y, regex: a}}"
    text = f"{RULE}    patterns: [{{pattern-either: [{{pattern: f($X)}}, {{pattern: g($Y)}}]}}, {condition}]\n"
    (rule,) = rules.load_from(write_rules(tmp_path, text))
    (either,) = rule.raw["patterns"]
    assert [next(iter(each)) for each in either["pattern-either"]] == ["pattern", "patterns"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RULE.replace("severity: HIGH", "severity: AWFUL"), "AWFUL"),
        (RULE.replace("CWE-1", "79"), "CWE-89"),
        (RULE + "    pattern-either: [{use: nothing}]\n", "nothing"),
        ("rules: [", "cannot be read"),
        ("[]", "not a mapping"),
        (RULE + RULE.replace("rules:\n", ""), "there twice"),
    ],
)
def test_a_wrong_rule_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        rules.load_from(write_rules(tmp_path, text))


def test_packs_are_json_and_shared(tmp_path: Path) -> None:
    first = rules.pack(ours("python"), tmp_path / "cache")
    assert rules.pack(ours("python"), tmp_path / "cache") == first
    assert len(json.loads(first.read_bytes())["rules"]) == len(ours("python"))
