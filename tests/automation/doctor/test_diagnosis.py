"""Tests the whole doctor: all checks, and repairs that change what they show and nothing else."""

from __future__ import annotations

import os
import time
import tomllib
from pathlib import Path

import pytest
from platformdirs import user_config_path
from tests.project import Project

from swarmgate.automation.doctor.diagnosis import Diagnosis, diagnose, mend
from swarmgate.config import ROLES
from swarmgate.errors import UsageError
from swarmgate.ledger.check import Check

BROKEN = """# mine
[providers.local]
baseUrl = "{url}"  # here
[roles.default]
model = "local/senior"
[roles.coder]
model = "local/junior"
[tests]
mutation = "no"
"""


def look(project: Project) -> Diagnosis:
    return diagnose(project.folder, {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, ROLES, lambda _: ())


def everything(project: Project) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in project.folder.path.rglob("*") if path.is_file()}


def test_a_healthy_project_has_the_problems_that_it_has(project: Project) -> None:
    project.play(commands={"sandbox": "auto"}, gates={"skip": []}, tests={"unproven": "block"})
    before = everything(project)
    began = time.monotonic()
    found = look(project)
    assert time.monotonic() - began < 30  # alone it is a third of a second
    assert (found.problems, found.diff, found.passed) == ((), "", True)
    assert [each.name for each in found.checks] == [
        "git", "settings", "models", "tests", "sandbox", "gates", "guidance", "ledger", "contradictions", "guardrails",
        "shared models", "variables", "endpoints", "gate tools", "hooks", "plan files", "folder",
    ]  # fmt: skip
    assert everything(project) == before
    assert not project.requests


def test_an_endpoint_that_is_down(project: Project) -> None:
    project.play()
    project.silence()
    (check,) = [each for each in look(project).checks if each.name == "endpoints"]
    assert "nothing answers at 127.0.0.1" in check.problems[0]
    assert check.problems[0].startswith(".swarm/config.toml line ")


def test_mending(project: Project) -> None:
    server = project.play()
    config, ignore = project.folder.config, project.folder.path / ".gitignore"
    config.write_text(BROKEN.format(url=server.base_url))
    ignore.write_text("/runtime/\n")
    (project.folder.prompts / "README.md").unlink()
    ledger, before = project.folder.ledger.read_bytes(), everything(project)
    found = look(project)
    assert everything(project) == before
    assert [check.name for check in found.checks if not check.passed] == ["settings"]
    assert '-baseUrl = "' in found.diff
    assert "+mutation = false\n" in found.diff
    assert "--- /dev/null\n+++ b/.swarm/prompts/README.md\n" in found.diff
    after = mend(project.folder, found, lambda: look(project))
    assert (after.passed, after.problems, after.drafts) == (True, (), ())
    assert after.diff == found.diff
    assert after.fixed == (".swarm/config.toml", ".swarm/.gitignore", ".swarm/prompts/README.md")
    assert config.read_text() == BROKEN.format(url=server.base_url).replace("baseUrl", "base_url").replace(
        '"no"', "false"
    )
    kept = {(project.root / each).read_bytes() for each in after.backup}
    assert kept == {before[config], before[ignore]}
    assert project.folder.ledger.read_bytes() == ledger
    now = everything(project)
    again = mend(project.folder, after, lambda: look(project))
    assert (again, everything(project)) == (after, now)
    assert look(project).diff == ""


def test_what_changed_meanwhile_is_not_overwritten(project: Project) -> None:
    project.play()
    project.folder.config.write_text("[tests]\nmutation = 'no'\n")
    found = look(project)
    project.folder.config.write_text("[tests]\nmutation = 'yes'\n")
    with pytest.raises(UsageError, match="changed by somebody else"):
        mend(project.folder, found, lambda: look(project))
    assert tomllib.loads(project.folder.config.read_text()) == {"tests": {"mutation": "yes"}}


@pytest.mark.parametrize("text", ["[tests\nmutation = 'no'\n", "\x00", "a = '''"])
def test_what_is_no_toml_is_told_and_left(project: Project, text: str) -> None:
    project.folder.config.write_text(text)
    found = look(project)
    (settings,) = [each for each in found.checks if each.name == "settings"]
    assert ("config.toml" in settings.problems[0], found.diff) == (True, "")


def test_two_slips_that_mean_one_key(project: Project) -> None:
    project.folder.config.write_text("[tests]\ncomand = 'a'\ncommnd = 'b'\n")
    found = look(project)
    assert (found.passed, found.diff, [each.fixable for each in found.problems]) == (False, "", [False, False])
    assert "`commnd` in line 3 means the same: keep one of them, as `command`" in found.problems[0].text


def test_the_users_own_file_is_told_and_left(project: Project) -> None:
    project.play()
    own = user_config_path("swarmgate") / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[tests]\ncomand = 'x'\n")
    found = look(project)
    (problem,) = found.problems
    assert (problem.where, problem.line, problem.fixable, found.diff) == (str(own), 2, False, "")


def test_a_key_in_the_file_is_not_shown_by_the_diff(project: Project) -> None:
    key = "sk-" + "abcdefghij1234567890"
    project.folder.config.write_text(f"# {key}\n[tests]\nmutation = 'no'\n")
    found = look(project)
    assert "+mutation = false" in found.diff
    assert key not in str(found.as_json())


WORD = "mysecretpassword123"


def test_secrets_without_a_shape_are_shown_nowhere(project: Project) -> None:
    project.folder.config.write_text(
        f"[providers.local]\napi_key = '{WORD}'\nmax_retries = '3'\nbase_url = 'http://me:{WORD}@h/v1'\n"
        f"[providers.local.headers]\nX-Thing = '{WORD}'\n"
    )
    found = look(project)
    assert "+max_retries = 3\n" in found.diff
    assert "X-Thing" not in found.diff  # no line that stays is shown
    assert WORD not in f"{found.as_json()}{found.lines()}"


@pytest.mark.parametrize("text", ["providers.local = { BASE_URL = 'http://x/v1' }\n", "tests = { Command = 'x' }\n"])
def test_what_cannot_be_mended_is_not_said_to_be(project: Project, text: str) -> None:
    project.folder.config.write_text(text)
    found = look(project)
    assert (found.drafts, found.diff, [each.fixable for each in found.problems]) == ((), "", [False])
    assert mend(project.folder, found, lambda: look(project)).fixed == ()


def test_a_dotted_key_at_the_root_is_mended_once(project: Project) -> None:
    project.folder.config.write_text('project.name = "x" # mine\n')
    after = mend(project.folder, look(project), lambda: look(project))
    assert (project.folder.config.read_text(), after.mended, after.fixable) == ("# mine\n", 1, 0)


def test_what_is_not_looked_at_is_said(project: Project) -> None:
    project.folder.config.write_text("[providers.local]\napi_key_env = 'K'\n")  # what `swarm status` reports
    found = look(project)
    (settings,) = [each for each in found.checks if each.name == "settings"]
    told = ".swarm/config.toml line 1: `providers.local`: the key `base_url` is missing"
    assert (settings.problems, settings.looked_at) == ((told,), ".swarm/config.toml")
    assert tuple(found.skipped) == (
        "models", "tests", "sandbox", "contradictions", "guardrails", "shared models", "variables", "endpoints",
        "gate tools", "hooks",
    )  # fmt: skip
    assert "skip  models: not looked at: the settings must be mended first" in found.lines()
    assert len([each for each in found.lines() if "settings: " in each]) == 1
    assert (found.left, found.passed) == (1, False)


def test_a_check_has_one_line_with_its_worst_standing() -> None:
    found = Diagnosis((Check("a", "here", (), ("odd",)), Check("b", "", ("bad",), ("odd",)), Check("c", "there")))
    assert found.lines() == ["WARN  a: here", "      odd", "FAIL  b", "      bad", "      odd", "ok    c: there"]


def test_settings_that_are_a_link_to_nothing(project: Project) -> None:
    project.folder.config.unlink()
    project.folder.config.symlink_to(project.root / "gone.toml")
    found = look(project)
    (settings,) = [each for each in found.checks if each.name == "settings"]
    assert "is a symbolic link to" in settings.problems[0]
    assert not found.drafts


def test_a_pipe_in_the_place_of_the_settings_is_not_waited_for(project: Project) -> None:
    project.folder.config.unlink()
    os.mkfifo(project.folder.config)
    (settings,) = [each for each in look(project).checks if each.name == "settings"]
    assert "not a regular file" in settings.problems[0]


def test_a_key_that_is_mended_with_the_name_of_its_table_counts_and_is_said_to_be(project: Project) -> None:
    server = project.play()
    text = BROKEN.format(url=server.base_url).replace("roles.coder", "roles.codr").replace('"no"', "false")
    project.folder.config.write_text(
        text.replace('/junior"', '/junior"\ntemperatur = "0.2"').replace("baseUrl", "base_url")
    )
    found = look(project)
    settings = [each for each in found.problems if each.check == "settings"]
    assert [("codr" in each.message, each.fixable) for each in settings] == [(True, True), (True, True)]
    assert found.fixable == 2
    after = mend(project.folder, found, lambda: look(project))
    assert (after.mended, after.passed) == (2, True)
    assert '[roles.coder]\nmodel = "local/junior"\ntemperature = 0.2\n' in project.folder.config.read_text()
