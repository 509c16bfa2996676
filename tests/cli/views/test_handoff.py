"""`swarm handoff`: the page on stdout, in its file, and as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.project import Project

pytestmark = pytest.mark.suite("unittest")


def test_the_page_is_printed_and_written_and_the_ledger_is_not_changed(project: Project) -> None:
    project.planned()
    before = project.folder.ledger.read_bytes()
    result = project.swarm("handoff")
    assert result.stdout == project.folder.handoff.read_text()
    assert "Written to .swarm/handoff.md" in result.stderr
    assert "- `swarm run`: go on with the work" in result.stdout
    assert project.folder.ledger.read_bytes() == before
    project.swarm("verify")


def test_as_json_it_is_typed_and_may_lie_elsewhere(project: Project, tmp_path: Path) -> None:
    project.planned()
    place = tmp_path / "page.md"
    told = project.json("handoff", "--out", str(place))
    assert (told["goal"], told["tasks"], told["path"]) == ("Add parts", {"pending": 1}, str(place))
    assert place.read_text() == told["page"]
    url = project.server.base_url if project.server else ""
    assert told["roles"][0] == {"role": "default", "models": ["local/senior"], "addresses": [url], "keys": []}
    assert not project.folder.handoff.exists()


def test_a_place_that_is_none_is_told(project: Project, tmp_path: Path) -> None:
    assert "needs a folder" in project.swarm("handoff", "--out", str(tmp_path / "no/page.md"), exits=2).stderr
    (tmp_path / "notes.md").write_text("mine")
    told = project.swarm("handoff", "--out", str(tmp_path / "notes.md"), exits=2).stderr
    assert f"{tmp_path / 'notes.md'} is there, and swarm handoff did not write it" in " ".join(told.split())
    assert (tmp_path / "notes.md").read_text() == "mine"
