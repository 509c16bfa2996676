"""Tests the quality budget gate: its settings, what it skips, and that a weaker setting is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.config import Quality
from swarmgate.domain.review.finding import GateStatus
from swarmgate.errors import ConfigError
from swarmgate.gates.definition import load

if TYPE_CHECKING:
    from pathlib import Path

    Project = Any

_BRANCHES = "".join(f"    if a == {n}:\n        return {n}\n" for n in range(12))
GROWN = f"def f(a):\n{_BRANCHES}    return a\n"
OWN = ".swarm/gates/quality_budget.toml"


def changed(project: Project) -> None:
    project.commit_files({"src/a.py": "def f(a):\n    return a\n"})
    project.write("src/a.py", GROWN)


def test_the_projects_own_definition_sets_limits_and_says_that_it_is_weaker(project: Project) -> None:
    changed(project)
    assert project.gate("quality_budget").status is GateStatus.FAIL
    project.write(OWN, "[limits]\nmax_complexity_delta = 20\n")
    result = project.gate("quality_budget")
    assert result.status is GateStatus.PASS
    assert "weakened: max_complexity_delta 20 instead of 5" in result.reason


def test_the_users_settings_lie_over_the_definition(project: Project) -> None:
    changed(project)
    project.write(OWN, "[limits]\nmax_complexity_delta = 20\n")
    assert project.gate("quality_budget", quality=Quality(max_complexity_delta=5)).status is GateStatus.FAIL


def test_stricter_limits_need_no_word(project: Project) -> None:
    project.write("src/a.py", "x = 1\n")
    strict = Quality(max_complexity_delta=1, min_test_to_code_ratio=0.9, min_changed_line_coverage=0.5)
    assert "weakened" not in project.gate("quality_budget", quality=strict).reason
    looser = Quality(min_test_to_code_ratio=0.1)
    assert (
        "weakened: min_test_to_code_ratio 0.1 instead of 0.3" in project.gate("quality_budget", quality=looser).reason
    )


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("quality_budget", "[limits]\nmax_complexity_dleta = 3\n", "did you mean 'max_complexity_delta'?"),
        ("quality_budget", "[limits]\nmax_complexity_delta = -3\n", "limits.max_complexity_delta"),
        ("syntax_check", "[limits]\nmax_complexity_delta = 3\n", '`limits` belong to `adapter = "quality"`'),
    ],
)
def test_limits_that_are_none(tmp_path: Path, name: str, text: str, told: str) -> None:
    place = tmp_path / ".swarm/gates"
    place.mkdir(parents=True)
    (place / f"{name}.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    assert told in caught.value.message


def test_a_change_without_code_is_a_skip(project: Project) -> None:
    project.write("notes.md", "text\n")
    result = project.gate("quality_budget")
    assert (result.status, result.reason) == (GateStatus.SKIP, "no code was changed")


def test_generated_and_vendored_code_is_not_judged(project: Project) -> None:
    project.write("vendor/a.py", GROWN * 3)
    project.write("src/a_pb2.py", GROWN * 3)
    assert project.gate("quality_budget").status is GateStatus.SKIP


def test_names_and_contents_of_every_kind(project: Project) -> None:
    project.write("src/a b\nc.py", GROWN)
    project.write("src/latin.py", "# \xe9\n".encode("latin-1") + GROWN.encode())
    project.write("src/empty.py", "")
    project.write("src/crlf.js", "function f(a) {\r\n  return a;\r\n}\r\n")
    result = project.gate("quality_budget")
    assert result.files == 4
    assert len([each for each in result.findings if each.rule == "complexity"]) == 2
    assert all(each.fingerprint for each in result.findings)


def test_code_that_only_shrinks_passes(project: Project) -> None:
    project.commit_files({"src/a.py": GROWN, "src/b.py": GROWN})
    project.write("src/a.py", "def f(a):\n    return a\n")
    (project.root / "src/b.py").unlink()
    assert project.gate("quality_budget", tested=True).status is GateStatus.PASS
