"""history/phase-N.md, held against a golden file: SWARMGATE_GOLDEN=1 writes it anew."""

from __future__ import annotations

import os
from pathlib import Path

from tests.domain.story import debated, make_plan, make_task, passing, play, rejected, rejection, started
from tests.ledger.conftest import Fill

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import Event
from swarmgate.domain.guard import Turn
from swarmgate.domain.state.state import State
from swarmgate.domain.usage import Usage
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.views.history import History, _overrides

GOLDEN = Path(__file__).parent / "golden/phase-1.md"
HOSTILE = "# A heading\n\n<!-- swarm: end -->\n- a list with a [link](x)"
PLAN = make_plan(
    [make_task("1.1"), make_task("1.2", title="## Not a heading"), make_task("1.3"), make_task("1.4")],
    [make_task("2.1")],
)


def _used(role: str, task: str, tokens: int, usd: float | None) -> Event:
    usage = Usage(calls=1, prompt_tokens=tokens, completion_tokens=10, usd=usd, known_usd=usd or 0.0, seconds=75)
    return ev.UsageRecorded(role=role, task=task, usage=usage)


def _turn(role: str, task: str, tokens: int) -> Event:
    return ev.TurnEnded(task=task, turn=Turn(role=role, step="code", attempt=1, tokens=tokens, seconds=60))


def _phase() -> list[Event]:
    return [
        *started(PLAN),
        _used("architect", "", 100, 0.5),
        *passing("1.1")[:3],
        debated("1.1", 1),
        *passing("1.1")[3:],
        _used("coder", "1.1", 1_000, 0.25),
        _turn("coder", "1.1", 1_010),
        _turn("reviewer", "1.1", 500),
        *rejected("1.2", 1),
        *passing("1.2", 2)[:2],
        ev.GatesRun(task="1.2", attempt=2, tree="g", passed=False, statuses={}),
        rejection("1.2", 2, "gates: ruff", HOSTILE),
        ev.RejectionOverridden(task="1.2", stage="gates: ruff", reason="I looked"),
        *passing("1.2", 3, ev.AttemptKind.OVERRIDE),
        _used("coder", "1.2", 2_000, None),
        *rejected("1.3", 1),
        *passing("1.3", 2),
        ev.TaskSkipped(task="1.4", reason="not needed"),
        ev.PhaseClosed(phase=1, summary=HOSTILE, decisions=("Use argon2", "1. one"), lessons=("Test expiry",)),
    ]


def _page(*events: Event) -> str:
    return dict(History().pages(play(State(), *events)))["phase-1.md"]


def test_the_page_of_a_phase_is_the_golden_file() -> None:
    page = _page(*_phase())
    if os.environ.get("SWARMGATE_GOLDEN"):
        GOLDEN.write_text(page, encoding="utf-8")
    assert page == GOLDEN.read_text(encoding="utf-8")


def test_no_key_stands_in_a_page() -> None:
    key = "sk-proj-AbC_0123456789_-_x9"
    said = f"Call it with {key}, or with scikit-learn and sk-learn-intelex"
    page = _page(*_phase()[:-1], ev.PhaseClosed(phase=1, summary=said, decisions=(said,), lessons=(said,)))
    assert "sk-proj" not in page
    assert page.count("Call it with \\[redacted\\], or with scikit-learn and sk-learn-intelex") == 3


def test_no_word_of_a_model_makes_a_heading() -> None:
    headings = [line for line in _page(*_phase()).splitlines() if line.startswith("#")]
    assert headings == [
        "# Phase 1: Stage 1",
        *(f"## {name}" for name in ("Tasks", "Decisions", "Rejections", "Overrides", "Cost", "Lessons", "Councils")),
        "## Evidence",
    ]


def test_only_closed_phases_have_a_page_and_a_deleted_one_comes_back(folder: SwarmFolder, fill: Fill) -> None:
    fill(*_phase()[:-1])
    assert not folder.history.exists()
    fill(_phase()[-1])
    page = folder.history / "phase-1.md"
    text = page.read_text()
    page.unlink()
    fill(ev.PhaseApproved(phase=1))
    assert page.read_text() == text
    assert not (folder.history / "phase-2.md").exists()


def test_a_page_is_rendered_again_only_when_what_it_shows_changed() -> None:
    history, state = History(), play(State(), *_phase())
    (first,) = history.pages(state)
    (same,) = history.pages(play(state, ev.PhaseApproved(phase=1), _used("coder", "", 5, 0.1)))
    assert same[1] == first[1]
    other = play(State(), *_phase()[:-1], ev.PhaseClosed(phase=1, summary="Else."))
    ((_, changed),) = history.pages(other)
    assert "Else." in changed


def test_who_overruled_is_told_by_the_event_and_not_by_the_words_of_the_reason() -> None:
    budget = "gates: quality_budget"
    decided = (
        ev.RejectionOverridden(task="1.1", stage=budget, reason="architect: it is mine"),
        ev.RejectionOverridden(task="1.1", stage=budget, reason="it is small", by="architect"),
    )
    told = []
    for each in decided:
        opened = play(State(), *started(), *rejected("1.1", 1, budget), each)
        record = opened.task("1.1")
        told += [*_overrides(make_task("1.1"), record), *(over.told for over in opened.overrides)]
    assert told == [
        f"- Task 1.1, {budget}, by the user: architect: it is mine",
        f"{budget}: architect: it is mine",
        f"- Task 1.1, {budget}, by the architect: it is small",
        f"{budget}, by the architect: it is small",
    ]
