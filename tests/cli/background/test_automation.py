"""`swarm automation` at the command line."""

from __future__ import annotations

from tests.project import Project, plain


def test_the_status_needs_no_verb(project: Project) -> None:
    told = project.swarm("automation").stdout
    assert told == project.swarm("automation", "status").stdout
    assert told.startswith("mode: manual (default)\n")
    assert 'on plan_sync mode "manual"' in plain(told)
    assert "off phase_preflight" in plain(told)
    assert "watching: nobody" in told
    found = project.json("automation")
    assert found["capabilities"][0] | {"meaning": ""} == {
        "name": "plan_sync", "on": True, "why": 'mode "manual"', "meaning": "", "state": None, "pending": 0,
        "problem": "",
    }  # fmt: skip


def test_switching(project: Project) -> None:
    told = plain(project.swarm("automation", "on", "phase_preflight").stdout)
    assert "on phase_preflight .swarm/config.toml line" in told
    found = project.json("automation", "off", "plan_sync")
    assert [each["on"] for each in found["capabilities"][:2]] == [False, True]
    assert project.json("automation", "mode", "auto")["mode"] == "auto"
    assert project.folder.config.read_text().count("\n[automation") == 2


def test_names_that_there_are_none_of(project: Project) -> None:
    before = project.folder.config.read_bytes()
    assert "Did you mean phase_preflight?" in plain(project.swarm("automation", "on", "phase_prefligt", exits=2).stderr)
    assert "swarm automation mode auto" in plain(project.swarm("automation", "on", "auto", exits=2).stderr)
    assert "There are: manual, hybrid, auto." in plain(project.swarm("automation", "mode", "automatic", exits=2).stderr)
    assert "is empty" in plain(project.swarm("automation", "on", "", exits=2).stderr)
    assert "did you mean `status`" in plain(project.swarm("automation", "stats", exits=2).stderr)
    assert project.folder.config.read_bytes() == before
