"""docs/discussion.md is so: its bounds are those of the code, its file of personas is held, the example runs."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from tests.council.discussion_script import discussing
from tests.project import Project

from swarmgate.council.discussion import personas as personas_file
from swarmgate.council.discussion.model import EXTENTS, Relation, Step
from swarmgate.council.discussion.planning import COLD_BELOW, HOT_ABOVE
from swarmgate.council.limits import PERSONA, ROUNDS, TOPIC, VOICE_SECONDS, WHOLE_SECONDS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/discussion.md").read_text("utf-8")


def test_the_table_of_modes_has_the_numbers_of_the_code() -> None:
    for mode, extent in EXTENTS.items():
        (row,) = re.findall(rf"^\| `{mode}`.*$", TEXT, re.MULTILINE)
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        told = [cells[1], cells[3], cells[4]]
        bounds = (extent.experts, extent.rounds, extent.calls)
        assert told == [f"{least} to {most}" if least != most else str(least) for least, most in bounds]
        assert cells[2] in (", ".join(extent.roles), "the same")


def test_steps_relations_and_limits_are_those_of_the_code() -> None:
    steps = re.findall(r"^\| `(\w+)` \|", TEXT.partition("## A round")[2].partition("\n## ")[0], re.MULTILINE)
    assert set(steps) == {*Step} - {Step.STRESS}
    assert all(f"`{each}`" in TEXT for each in Relation)
    assert f"Below {COLD_BELOW} the moderator" in TEXT
    assert f"Above {HOT_ABOVE} it asks" in TEXT
    told = (
        f"rounds {ROUNDS}, {VOICE_SECONDS.most:g} s a voice, {WHOLE_SECONDS.most:g} s a session, a topic of "
        f"{TOPIC.most:,.0f} characters, a persona's text of {PERSONA.most:,.0f}"
    )
    assert told in " ".join(TEXT.split())


def test_the_files_of_the_page_are_those_that_are_written(project: Project) -> None:
    """With the personas of the page, in the place where the page has them."""
    project.play(*discussing())
    (personas,) = [text for text in re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL) if "# personas.toml" in text]
    path = project.write("personas.toml", personas)
    told = project.json("discuss", "How?", "--mode", "lightweight", "--personas", str(path), "--yes")
    named = set(re.findall(r"`([\w./-]+\.(?:json|md|mmd|html))`", TEXT.partition("## Files")[2].partition("\n## ")[0]))
    names = {Path(name).name for name in told["artifacts"]}
    assert {Path(name).name for name in named} <= names | {"proposed.json"}
    assert {"artifacts/synthesis.json", "artifacts/argument-graph.mmd", "context/summary.md"} <= set(told["artifacts"])


def test_the_file_to_begin_with_can_be_read() -> None:
    cast = personas_file.read(ROOT / "examples/personas.toml")
    assert (len(cast.experts), len(cast.tensions)) == (2, 1)


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("example_discussion", ROOT / "examples/discussion.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.main() == 0
    told = capsys.readouterr().out
    assert "r1-msg-006 contrarian, attack: counters r1-msg-005" in told
    assert "counted: 2 counters, 2 steel-mans, 1 shifts" in told
    assert "agreed by argument: A machine rotates. ['r1-msg-008']" in told
