"""Tests `swarm discuss` with a user at the terminal: what is printed, asked and done with the answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from tests.council.discussion_script import PERSONAS, discussing
from tests.project import Project

from swarmgate.cli.council.discuss_interactive import TerminalAnswers
from swarmgate.council.discussion.model import ChoiceKind
from swarmgate.council.discussion.personas import as_given, changed
from swarmgate.engine import Swarm

REREAD = partial(changed, agents=as_given)


def typing(*lines: str | None) -> tuple[Callable[[str], Awaitable[str | None]], list[str]]:
    """Who types these lines, one a question; the questions."""
    left, asked = list(lines), []

    async def ask(question: str) -> str | None:
        asked.append(question)
        return left.pop(0)

    return ask, asked


async def never(text: str) -> str:
    raise AssertionError(text)


async def held(project: Project, people: TerminalAnswers, **more: Any) -> Any:
    project.play(*discussing())
    council = Swarm(project.root).council
    return await council.discuss("How often do keys rotate?", mode="standard", people=people, **more)


async def test_a_person_changes_the_mode_and_the_course(project: Project) -> None:
    shown: list[str] = []
    ask, asked = typing("what?", "m", "small", "m", "lightweight", "", "x", "i", "", "i", "No new service.", None)
    record = await held(project, TerminalAnswers(ask=ask, say=shown.append, edit=never, reread=REREAD, speaks=False))
    assert record.discussion.mode == "lightweight"
    assert [(each.after, each.kind, each.text) for each in record.choices] == [
        (1, ChoiceKind.INJECT, "No new service."),
        (2, ChoiceKind.SYNTHESIZE, ""),
    ], "the bounds of the mode end it without a question"
    assert record.status == "complete"
    assert {"small is none of these: deep, standard, lightweight", "x is none of these: f, d, a, i, s, p"} <= {*shown}
    assert "Which constraint holds from now on? " in asked
    told = "\n".join(shown)
    assert "A standard discussion of at most 3 rounds, with moderator, historian" in told
    assert "A lightweight discussion of at most 2 rounds" in told
    assert "Measured in round 1: counters 3 (3 with a steel-man)" in told
    assert "The moderator's own scores, of 5: genuine disagreement 4" in told
    assert "The moderator recommends to synthesise" in told


async def test_the_question_after_a_round_has_its_quality_shifts_and_why_and_the_next_session_what_it_begins_with(
    project: Project,
) -> None:
    shown: list[str] = []
    ask, _ = typing("", None)
    record = await held(project, TerminalAnswers(ask=ask, say=shown.append, edit=never, reread=REREAD, speaks=False))
    told = " ".join(" ".join(shown).split())
    for expected in (
        "shifts of position 2",
        "overall 3",
        "What it came to: Both want rotation and differ in who does it",
        "Key takeaway: It is about a number.",
        "The moderator recommends to synthesise (nobody has the number)",
        "Still divided: - Who rotates them.",
    ):
        assert expected in told
    assert "takes it up again" not in told
    shown.clear()
    going_on, _ = typing("s")
    people = TerminalAnswers(ask=going_on, say=shown.append, edit=never, reread=REREAD, speaks=False)
    await Swarm(project.root).council.resume_discussion(record.discussion.id, people=people)
    told = " ".join(" ".join(shown).split())
    for expected in (
        "The moderator takes it up again: - Most productive tension: safety against speed",
        "- Most important open question: What does a rotation cost?",
        "- Settled of the tension map: that keys rotate",
        "- Proposed for the next round: Who looks at a rotation",
    ):
        assert expected in told


async def test_the_end_of_the_input_pauses_and_nothing_is_lost(project: Project) -> None:
    edits = iter([PERSONAS.replace("axis =", "axes ="), PERSONAS])
    given_to: list[str] = []

    async def edit(text: str) -> str:
        given_to.append(text)
        return next(edits)

    shown: list[str] = []
    ask, asked = typing("e", "e", None)
    record = await held(project, TerminalAnswers(ask=ask, say=shown.append, edit=edit, reread=REREAD, speaks=False))
    assert given_to[1] == PERSONAS.replace("axis =", "axes ="), "the text with the mistake is edited on"
    assert any("line 16: `tensions.1.axes`: unknown key" in line for line in shown)
    assert (record.status, len(record.rounds), len(asked)) == ("paused", 1, 3)
    assert record.cast.experts[1].blind_spots == "auditors"
    going_on, _ = typing("s")
    people = TerminalAnswers(ask=going_on, say=shown.append, edit=never, reread=REREAD, speaks=False)
    council = Swarm(project.root).council
    record = await council.resume_discussion(record.discussion.id, people=people)
    assert (record.status, len(record.rounds)) == ("complete", 1)
