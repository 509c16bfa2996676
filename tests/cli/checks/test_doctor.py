"""`swarm doctor` at the command line: what it prints, what it mends, and how it ends."""

from __future__ import annotations

import pytest
from tests.project import Project, plain


def test_it_names_places_and_ends_with_six(project: Project) -> None:
    project.play(tests={"comand": "x"})
    told = plain(project.swarm("doctor", exits=6).stdout)
    assert "FAIL settings" in told
    assert "unknown key `comand`; did you mean `command`?" in told
    found = project.json("doctor", exits=6)
    (problem,) = [each for each in found["problems"] if each["severity"] == "error"]
    assert (problem["check"], problem["where"]) == ("settings", ".swarm/config.toml")
    lines = project.folder.config.read_text().splitlines()
    assert lines[problem["line"] - 1].startswith("comand")
    assert found["passed"] is False


@pytest.mark.slow
def test_fix_shows_the_diff_keeps_the_old_file_and_is_done_once(project: Project) -> None:
    project.play(tests={"mutation": "no", "unproven": "block"})
    before = project.folder.config.read_text()
    checked = project.swarm("doctor", "--fix", "--check", exits=6).stdout
    assert project.folder.config.read_text() == before
    assert '-mutation = "no"' in checked
    assert checked.endswith("1 would be mended\n")
    told = project.swarm("doctor", "--fix").stdout
    assert told.endswith("1 mended, 1 is yours\n")
    assert told.index("+mutation = false") < told.index("git: ")
    assert "mended: .swarm/config.toml; what they held before: .swarm/quarantine/" in told
    (kept,) = project.folder.quarantine.iterdir()
    assert kept.read_text() == before
    after = project.folder.config.read_bytes()
    assert project.swarm("doctor", "--fix").stdout.endswith("nothing to mend, 1 is yours\n")
    assert project.folder.config.read_bytes() == after


@pytest.mark.slow
def test_fix_as_json(project: Project) -> None:
    project.play(tests={"mutation": "no"})
    found = project.json("doctor", "--fix")
    assert (found["passed"], found["fixed"]) == (True, [".swarm/config.toml"])
    assert "+mutation = false" in found["diff"]
    assert found["backup"][0].startswith(".swarm/quarantine/")
    assert project.json("doctor", "--fix")["diff"] == ""


def test_options_that_do_not_go_together(project: Project) -> None:
    assert "--check goes with --fix" in project.swarm("doctor", "--check", exits=2).stderr
    assert "do not go together" in project.swarm("doctor", "--models", "--fix", exits=2).stderr
