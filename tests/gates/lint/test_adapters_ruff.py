"""Tests linting and formatting with ruff in the project's own configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus, Severity
from swarmgate.gates.lint import ruff

if TYPE_CHECKING:
    Project = Any


def test_old_findings_inform_and_new_ones_block(project: Project) -> None:
    project.commit_files({"a.py": "import os\nprint(missing)\n"})
    project.write("a.py", "import os\n\n\n    \nprint(missing)\nx = 1\n")
    result = project.gate("lint_check")
    assert result.status is GateStatus.PASS
    assert {(finding.rule, finding.new) for finding in result.findings} == {("F401", False), ("F821", False)}
    project.write("a.py", "import os\nprint(missing)\nprint(gone)\n")
    result = project.gate("lint_check")
    assert result.status is GateStatus.FAIL
    (new,) = result.new_findings
    assert (new.rule, new.line, new.severity) == ("F821", 3, Severity.HIGH)
    assert "new at or above medium" in result.reason
    assert [each.new for each in result.findings].count(False) == 2


def test_a_renamed_file_keeps_its_past(project: Project) -> None:
    project.commit_files({"old.py": "import os\n" + "x = 1\n" * 20})
    (project.root / "old.py").rename(project.root / "fresh.py")
    result = project.gate("lint_check")
    assert (result.status, [finding.new for finding in result.findings]) == (GateStatus.PASS, [False])


def test_the_projects_rules_and_per_file_ignores_hold(project: Project) -> None:
    settings = '[tool.ruff.lint]\nselect = ["D100"]\nper-file-ignores = {"free/**" = ["D100"]}\n'
    project.commit_files({"pyproject.toml": settings})
    project.write("free/a.py", "import os\n")
    project.write("bound/a.py", "import os\n")
    result = project.gate("lint_check")
    assert [(finding.path, finding.rule) for finding in result.findings] == [("bound/a.py", "D100")]


def test_a_security_rule_says_what_to_do(project: Project) -> None:
    project.commit_files({"ruff.toml": 'lint.select = ["S307"]\n'})
    project.write("a.py", "x = eval(input())\n")
    (found,) = project.gate("lint_check").findings
    assert "ast.literal_eval" in found.suggestion
    assert "https://" in found.suggestion


def test_without_configuration_only_mistakes_count(project: Project) -> None:
    project.write("a.py", "def f(a, b=[]):\n    return  a\n")
    assert project.gate("lint_check").findings == ()


@pytest.mark.parametrize(
    ("settings", "blocks"),
    [
        ("line-length = 100\n", {"F401"}),
        ('line-length = 100\n[lint]\nignore = ["F401"]\n', set()),
        ('lint.select = ["F", "I"]\n', {"F401", "I001"}),
        ('[lint]\nextend-select = ["I"]\n', {"F401", "I001"}),
    ],
)
def test_what_ruffs_newer_defaults_add_informs_where_settings_select_nothing(
    project: Project, settings: str, blocks: set[str]
) -> None:
    project.commit_files({"ruff.toml": settings})
    project.write("a.py", "import sys\nimport os\n\nprint(sys.path)\n")
    found = project.gate("lint_check").findings
    assert {each.rule for each in found if each.severity.rank >= Severity.MEDIUM.rank} == blocks


def test_style_that_nobody_adopted_informs(project: Project) -> None:
    project.write(
        "a.py", "def f(l, s):\n    if s == '': return 0\n    try:\n        return l\n    except: return f''\n"
    )
    result = project.gate("lint_check")
    assert result.status is GateStatus.PASS
    assert {(each.rule, each.severity) for each in result.findings} == {
        (rule, Severity.LOW) for rule in ("E701", "E722", "E741", "F541")
    }
    project.commit_files({"ruff.toml": ""})
    project.write("a.py", "def f(l):\n    return l\n\n\nimport os\n")
    assert project.gate("lint_check").status is GateStatus.FAIL


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("print(missing)\n", "F821"), ("import os\n", "F401"), ("'%d' % ('a', 'b')\n", "F507"),
        ("def f():\n    return\n    x = 1\n    yield = 2\n", "invalid-syntax"), ("assert (1, 'x')\n", "F631"),
        ("from os import *\n\nprint(getcwd())\n", "F405"), ("import logging\n\nlogging.error('%s %s', 1)\n", "PLE1206"),
    ],
)  # fmt: skip
def test_what_is_broken_blocks_without_settings(project: Project, code: str, rule: str) -> None:
    project.write("a.py", code)
    result = project.gate("lint_check")
    assert result.status is GateStatus.FAIL
    assert rule in {each.rule for each in result.new_findings if each.severity.rank >= Severity.MEDIUM.rank}


def test_a_habit_of_the_file_informs_and_a_first_one_blocks(project: Project) -> None:
    project.commit_files({"all.py": "from os import *\nfrom sys import *\nimport re\n", "neat.py": "x = 1\n"})
    project.write("all.py", "from os import *\nfrom sys import *\nfrom math import *\nimport re\nimport json\n")
    assert project.gate("lint_check").status is GateStatus.PASS
    project.write("neat.py", "import json\n\nx = 1\n")
    result = project.gate("lint_check")
    assert [each.path for each in result.new_findings if each.severity is not Severity.LOW] == ["neat.py"]


def test_what_a_change_leaves_over_informs(project: Project) -> None:
    old = "import json\nimport os\n\n\ndef f(x):\n    y = x + 1\n    return json.dumps(y) + os.sep\n"
    project.commit_files({"a.py": old})
    project.write("a.py", old.replace("json.dumps(y)", "str(x)"))
    result = project.gate("lint_check")
    assert (result.status, [each.rule for each in result.new_findings]) == (GateStatus.PASS, ["F401", "F841"])
    project.write("a.py", old.replace("y = x + 1", "y = z = x + 1"))
    assert project.gate("lint_check").status is GateStatus.FAIL


def test_a_project_that_chose_to_have_no_unused_names_gets_none(project: Project) -> None:
    project.commit_files({"ruff.toml": 'lint.select = ["F"]\n', "a.py": "import os\n\nprint(os.sep)\n"})
    project.write("a.py", "import os\n\nprint(1)\n")
    assert project.gate("lint_check").status is GateStatus.FAIL


def test_a_module_that_only_passes_names_on_may_do_so(project: Project) -> None:
    project.commit_files({"pkg/new.py": "def load():\n    return 1\n"})
    project.write("pkg/old.py", '"""Moved."""\n\nfrom pkg.new import *\nfrom pkg.new import load\n')
    assert project.gate("lint_check").status is GateStatus.PASS
    project.write("pkg/old.py", '"""Moved."""\n\nfrom pkg.new import *\n\nx = load()\n')
    assert project.gate("lint_check").status is GateStatus.FAIL


def test_a_name_that_was_undefined_before_comes_from_elsewhere(project: Project) -> None:
    project.commit_files({"a.py": "print(_('one'))\n"})
    project.write("a.py", "print(_('one'))\nprint(_('two'))\n")
    assert project.gate("lint_check").status is GateStatus.PASS
    project.write("a.py", "print(_('one'))\nprint(gone)\n")
    assert project.gate("lint_check").status is GateStatus.FAIL


def test_unused_names_inform_in_tests_and_broken_ones_block(project: Project) -> None:
    project.write("tests/test_a.py", "def test_it():\n    from os import sep\n\n    x = 1\n")
    assert project.gate("lint_check").status is GateStatus.PASS
    project.write("tests/test_a.py", "def test_it():\n    assert gone\n")
    assert project.gate("lint_check").status is GateStatus.FAIL


def test_what_stood_in_a_file_that_did_not_parse_is_old(project: Project) -> None:
    project.commit_files({"a.py": "def f(x):\n    print x\n    assertEqual(x, 1)\n"})
    project.write("a.py", "def f(x):\n    assertEqual(x, 1)\n    assertTrue(x)\n")
    found = project.gate("lint_check").findings
    assert [(each.rule, each.line, each.new) for each in found] == [("F821", 2, False), ("F821", 3, True)]


def test_what_follows_an_old_syntax_error_informs(project: Project) -> None:
    old = "def f():\n    try:\n        g()\n    except A, e:\n        print 'x'\n"
    project.commit_files({"a.py": old})
    project.write("a.py", old + "\n\ndef h():\n    try:\n        g()\n    except B, e:\n        print e.x\n")
    for gate in ("lint_check", "syntax_check"):
        assert project.gate(gate).status is GateStatus.PASS, gate
    project.write("a.py", "def f():\n    return gone\n")
    assert project.gate("lint_check").status is GateStatus.FAIL
    project.write("a.py", "def f(:\n    return 1\n")
    assert project.gate("syntax_check").status is GateStatus.FAIL


def test_names_that_a_package_passes_on_inform(project: Project) -> None:
    project.commit_files({"pkg/a.py": "def load():\n    return 1\n", "pkg/__init__.py": ""})
    project.write("pkg/__init__.py", "from .a import load\n\ntry:\n    import json\nexcept ImportError:\n    pass\n")
    result = project.gate("lint_check")
    assert result.status is GateStatus.PASS
    assert {each.rule for each in result.findings} == {"F401"}


def test_an_old_finding_on_a_line_whose_annotation_changed_is_old(project: Project) -> None:
    project.commit_files({
        "ruff.toml": 'lint.select = ["E7"]\n',
        "a.py": "def f(l: List[int], x: Optional[str] = None) -> Dict[str, int]:\n    return l\n",
    })  # fmt: skip
    project.write("a.py", "def f(l: list[int], x: str | None = None) -> dict[str, int]:\n    return l\n")
    assert [each.new for each in project.gate("lint_check").findings] == [False]
    project.write("a.py", "def f(a):\n    return a\n\n\ndef other(first, l, third):\n    return l + first + third\n")
    assert [each.new for each in project.gate("lint_check").findings] == [True]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ('lint.select = ["F", "XYZ123", "QQQ"]\n', "QQQ, XYZ123"),
        ('lint.select = ["F"]\nlint.ignore = ["UP038"]\nlint.per-file-ignores = {"t/*" = ["F401", "ZZZ1"]}\n', "ZZZ1"),
        ('required-version = "==0.1.0"\nlint.select = ["F"]\n', "required-version"),
        ('extend = "more/base.toml"\n', "OLD77"),
        ('show-source = true\ntab-size = 4\nlint.select = ["F"]\n', "show-source, tab-size"),
        ('format = "grouped"\nlint.select = ["F"]\n', "format"),
        ('output-format = "text"\nlint.select = ["F", "QQQ"]\n', "QQQ, output-format"),
    ],
)
def test_what_this_ruff_does_not_know_of_the_settings_is_a_note(project: Project, settings: str, named: str) -> None:
    project.commit_files({"ruff.toml": settings, "more/base.toml": 'lint.select = ["F", "OLD77"]\n', "t/b.py": ""})
    project.write("a.py", "import os\n")
    result = project.gate("lint_check")
    assert (result.status, [each.rule for each in result.findings]) == (GateStatus.FAIL, ["F401"])
    assert f"ruff here does not know {named}" in result.reason
    assert project.gate("lint_fix").status is GateStatus.PASS


def test_the_users_home_has_no_say(project: Project, isolated: Any) -> None:
    config = isolated / "config" / "ruff"
    config.mkdir(parents=True)
    (config / "ruff.toml").write_text('lint.select = ["ALL"]\n')
    project.write("a.py", "x = 1\n")
    assert project.gate("lint_check").findings == ()


def test_excluded_by_the_project_is_a_skip(project: Project) -> None:
    project.commit_files({"ruff.toml": 'extend-exclude = ["gen"]\n'})
    project.write("gen/a.py", "import os\n")
    result = project.gate("lint_check")
    assert (result.status, result.reason) == (
        GateStatus.SKIP, "the project's ruff configuration excludes every changed file",
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("text", ["[tool.ruff.lint]\nselec = []\n", "[tool.ruff\n"])
def test_a_broken_configuration_is_an_error_and_no_crash(project: Project, text: str) -> None:
    project.commit_files({"pyproject.toml": text})
    project.write("a.py", "x = 1\n")
    report = project.run()
    by_gate = {result.gate: result for result in report.results}
    for gate in ("lint_fix", "lint_check"):
        assert by_gate[gate].status is GateStatus.ERROR
        assert "pyproject.toml" in by_gate[gate].reason
    assert not report.passed


def test_an_unformatted_file_is_not_rewritten(project: Project) -> None:
    ugly = "x = {  'a':1 }\ny = 1\n"
    project.commit_files({"ugly.py": ugly, "neat.py": "x = 1\n"})
    project.write("ugly.py", ugly + "z = 2\n")
    project.write("neat.py", "x = 1\ny=  2\n")
    result = project.gate("lint_fix")
    assert result.fixed == ("neat.py",)
    assert (project.root / "ugly.py").read_text() == ugly + "z = 2\n"
    assert (project.root / "neat.py").read_text() == "x = 1\ny = 2\n"


def test_unchanged_files_are_not_touched(project: Project) -> None:
    project.commit_files({"other.py": "import os\n"})
    project.write("a.py", "x = 1\n")
    assert project.gate("lint_fix").fixed == ()
    assert (project.root / "other.py").read_text() == "import os\n"


@pytest.mark.parametrize("configured", [True, False])
def test_a_new_file_is_formatted_where_the_project_configures_ruff(project: Project, *, configured: bool) -> None:
    project.commit_files({"ruff.toml": ""} if configured else {"setup.cfg": ""})
    project.write("new.py", "x = {  'a':1 }\n")
    project.gate("lint_fix")
    assert (project.root / "new.py").read_text() == ('x = {"a": 1}\n' if configured else "x = {  'a':1 }\n")


def test_an_import_that_is_not_used_yet_stays_and_is_told(project: Project) -> None:
    project.commit_files({"ruff.toml": '[lint]\nselect = ["F", "I"]\nunfixable = ["I001"]\n'})
    project.write("new.py", 'import sys\nimport os\n\n\nprint(f"x")\n')
    assert project.gate("lint_fix").fixed == ("new.py",)
    assert (project.root / "new.py").read_text() == 'import sys\nimport os\n\n\nprint("x")\n'
    assert sorted(finding.rule for finding in project.gate("lint_check").findings) == ["F401", "F401", "I001"]


def test_an_empty_file_tells_nothing_of_a_projects_style(project: Project) -> None:
    project.commit_files({"empty.py": "\n", "neat.py": "x = 1\n"})
    project.write("empty.py", "x = {  'a':1 }\n")
    project.write("neat.py", "x = {  'a':1 }\n")
    assert project.gate("lint_fix").fixed == ("neat.py",)


def test_a_file_that_does_not_parse_is_left_to_the_syntax_gate(project: Project) -> None:
    project.commit_files({"ruff.toml": ""})
    project.write("broken.py", "def f(:\n")
    project.write("good.py", "x=1\n")
    result = project.gate("lint_fix")
    assert (result.status, result.fixed) == (GateStatus.PASS, ("good.py",))


def test_output_that_is_not_ruffs() -> None:
    from pathlib import Path

    from swarmgate.gates.tools.run import Broken

    assert isinstance(ruff.parse("Killed", Path("/")), Broken)
    assert isinstance(ruff.parse('[{"code": "F401"}]', Path("/")), Broken)
