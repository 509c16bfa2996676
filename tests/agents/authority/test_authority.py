"""What each role may write, and how settings widen and narrow it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from swarmgate.agents.authority.authority import EVERYTHING, Authority, Right, right_of
from swarmgate.agents.tools.tool_table import OFFERED


def is_test(path: str) -> bool:
    return path.startswith("tests/")


def of(right: Right, allow: tuple[str, ...] = (), deny: tuple[str, ...] = (), role: str = "coder") -> Authority:
    return Authority(role=role, right=right, allow=allow, deny=deny, is_test=is_test)


def test_who_may_write_is_who_is_offered_the_tools_for_it() -> None:
    writers = {who for who, tools in OFFERED.items() if {"write_file", "edit_file", "delete_file"} & {*tools}}
    assert {who for who in OFFERED if right_of(*who) is not Right.NOTHING} == writers
    assert right_of("test_engineer", "test") is Right.TESTS
    assert right_of("architect", "delegate") is right_of("reviewer", "review") is Right.NOTHING


@pytest.mark.parametrize(
    "path",
    [".git/config", ".swarm/config.toml", "sub/.git/hooks/x", ".GIT/x", ".Swarm/x", "a/.git", "\uff0egit/x",
     ".g\u200bit/x", "git~1/x", ".git./x", ".git /x", ".git::$INDEX_ALLOCATION/x"],
)  # fmt: skip
def test_nothing_opens_what_belongs_to_git_and_swarmgate(path: str) -> None:
    wide = of(Right.ALL, allow=("**", ".git/**", ".swarm/**"))
    for authority in (EVERYTHING, wide, of(Right.NOTHING, allow=("**",))):
        assert "nobody writes there" in authority.refusal(path)


@pytest.mark.parametrize("path", ["src/.gitignore", ".github/workflows/ci.yml", "a/.swarm/x", "swarm/x", "git/x.py"])
def test_what_only_looks_like_that_is_the_projects(path: str) -> None:
    assert EVERYTHING.refusal(path) == ""


def test_each_right_opens_what_it_says() -> None:
    assert of(Right.ALL).refusal("src/a.py") == ""
    assert of(Right.TESTS, role="test_engineer").refusal("tests/test_a.py") == ""
    assert "not a test file" in of(Right.TESTS, role="test_engineer").refusal("src/a.py")
    assert "the reviewer writes no files" in of(Right.NOTHING, role="reviewer").refusal("tests/test_a.py")


@pytest.mark.parametrize(
    "name",
    ["conftest.py", "a/ConfTest.py", "pytest.ini", "tox.ini", "setup.cfg", "sitecustomize.py", "jest.config.ts",
     "vitest.config.mjs", ".mocharc.json"],
)  # fmt: skip
def test_a_test_engineer_steers_no_runner(name: str) -> None:
    engineer = of(Right.TESTS, role="test_engineer")
    assert "how other tests are run" in engineer.refusal(f"tests/{name}")
    assert of(Right.TESTS, allow=("tests/**",)).refusal(f"tests/{name}") == ""
    there = replace(engineer, original=lambda _path: "")
    assert there.refusal(f"tests/{name}") == ""
    assert of(Right.ALL).refusal(f"tests/{name}") == ""


@pytest.mark.parametrize("name", ["__init__.py", "test_conftest.py", "helpers.py", "data.json"])
def test_support_code_of_tests_is_the_test_engineers(name: str) -> None:
    assert of(Right.TESTS, role="test_engineer").refusal(f"tests/{name}") == ""


@pytest.mark.parametrize("allow", ["fixtures/**", "fixtures/", "*.json", "fixtures/a.json"])
def test_allow_widens(allow: str) -> None:
    assert of(Right.TESTS, allow=(allow,)).refusal("fixtures/a.json") == ""
    assert of(Right.NOTHING, allow=(allow,)).refusal("fixtures/a.json") == ""
    assert of(Right.TESTS, allow=(allow,)).refusal("src/a.py") != ""


@pytest.mark.parametrize("deny", ["migrations/**", "migrations/", "migrations", "*.sql", "MIGRATIONS/**"])
@pytest.mark.parametrize("path", ["migrations/1.sql", "Migrations/1.SQL", "MIGRATIONS/1.sql"])
def test_deny_narrows_and_wins_on_any_file_system(deny: str, path: str) -> None:
    authority = of(Right.ALL, allow=("migrations/**", "**"), deny=(deny,))
    assert f"[authority.coder] deny has `{deny}`" in authority.refusal(path)
    assert authority.refusal("src/migration.py") == ""


OLD = "def test_a() -> None:\n    assert 1 == 1\n"


def test_the_test_engineer_adds_and_deletes_nothing() -> None:
    engineer = of(Right.TESTS, role="test_engineer", allow=("tests/golden/**",))
    assert engineer.objection("tests/test_a.py", None, OLD) == ""
    assert engineer.objection("tests/test_a.py", OLD, OLD.replace("1 == 1", "True"), original=None) == ""
    assert "deletes nothing" in engineer.objection("tests/test_a.py", OLD, None, original=None)
    told = engineer.objection("tests/test_a.py", OLD, OLD.replace("1 == 1", "True"), original=OLD)
    assert "you may add to it" in told
    assert engineer.objection("tests/golden/a.txt", "a\n", "b\n", original="a\n") == ""
    assert of(Right.ALL).objection("tests/test_a.py", OLD, None, original=OLD) == ""
