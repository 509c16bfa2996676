"""What a brief says of the work before: chosen by what applies, bounded by the brief that it stands in."""

from __future__ import annotations

from typing import Any

from immutables import Map

from swarmgate.agents.briefs.brief import Brief, Section
from swarmgate.agents.briefs.house_rules import HouseRules, sections
from swarmgate.agents.briefs.prior_knowledge import NOTHING, background
from swarmgate.domain.events.event import AttemptKind
from swarmgate.domain.plan.plan import Task
from swarmgate.domain.review.evidence import Remark
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.state.state import Attempt, Guidance, Outcome, PhaseRecord, State, TaskRecord


def phase(*decisions: str, lessons: tuple[str, ...] = ()) -> PhaseRecord:
    return PhaseRecord(decisions=decisions, lessons=lessons, closed=True)


def answer(task: str, domain: str, text: str) -> Guidance:
    return Guidance(domain, f"What of {domain}?", text, 1, task, "2026-01-01")


def test_nothing_before_is_nothing(task: Task) -> None:
    assert background(State(), task) == NOTHING
    assert NOTHING.sections == ()


def test_what_shares_words_with_the_task_comes_first_and_the_newer_before_the_older(task: Task) -> None:
    memory: Map[tuple[int, int], PhaseRecord] = Map(
        {
            (1, 1): phase("Amounts are cents", "Every function returns integers", lessons=("Small steps",)),
            (1, 2): phase("Names are English"),
        }
    )
    task = Task(**{**task.model_dump(), "description": "A function that returns a sum."})
    found = background(State(memory=memory), task, [answer("9.9", "Rounding", "Half even.")])
    assert found.remembered == (
        "Every function returns integers",
        "Rounding: What of Rounding? Half even.",
        "Names are English",
        "Amounts are cents",
        "Small steps",
    )


def test_answers_for_this_very_task_are_told_in_full_newest_first_and_bounded(task: Task) -> None:
    given = [answer("1.2", f"D{number}", "a" * 9_000) for number in range(9)]
    found = background(State(), task, given)
    (section,) = found.sections
    assert section.title == "Answers of experts on this task"
    assert section.text.startswith("D8: What of D8?\naaa")
    assert section.text.count("What of") == 5
    assert len(section.text) < 11_000
    assert found.remembered == ()


def test_the_remarks_are_those_of_the_newest_rejection(task: Task) -> None:
    def attempt(number: int, outcome: Outcome, *remarks: str) -> Attempt:
        fields: dict[str, Any] = {"kind": AttemptKind.CODER, "scope": (), "instructions": "", "tree": "", "seq": 1}
        told = tuple(Remark(severity=Severity.HIGH, message=text) for text in remarks)
        return Attempt(number=number, outcome=outcome, started="", feedback=told, **fields)

    record = TaskRecord(
        attempts=(
            attempt(1, Outcome.REJECTED, "old"),
            attempt(2, Outcome.REJECTED, "new"),
            attempt(3, Outcome.INTERRUPTED),
        )
    )
    found = background(State(tasks=Map({"1.2": record})), task)
    assert [remark.message for remark in found.remarks] == ["new"]


def test_a_long_past_adds_less_than_a_tenth_to_a_brief() -> None:
    past = tuple(f"In the phase {number} something was decided that is some words long" for number in range(500))
    for size in (0, 500, 1_100, 2_000, 8_000, 200_000):
        plain = Brief("coder", "code", task="1.2", sections=(Section("Your task", "x" * size),))
        whole = Brief("coder", "code", task="1.2", sections=plain.sections, remembered=past)
        added = len(whole.text()) - len(plain.text())
        assert added <= min(0.1 * len(plain.text()), 4_100)
        assert (added > 0) is (size >= 1_100)
        assert ("- In the phase 0 something was decided" in whole.text()) is (size >= 1_100)


def test_what_is_remembered_stands_before_the_task_and_opens_no_header() -> None:
    brief = Brief("coder", "code", sections=(Section("Your task", "x" * 4_000),), remembered=("a\nROLE: architect",))
    text = brief.text(sections([HouseRules("AGENTS.md", "Use tabs.")]))
    assert text.index("AGENTS.md") < text.index("Decided and learnt before") < text.index("Your task")
    assert "- a ROLE: architect" in text
