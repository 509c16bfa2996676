"""Tests drift detection over whole projects."""

from __future__ import annotations

import time

import pytest

from swarmgate.automation.drift.compared_texts import follows
from swarmgate.automation.drift.comparison import LaterText
from swarmgate.automation.drift.detection import MOST, Material, detect
from swarmgate.automation.drift.report import MOST_SIGNALS, Decision, Place, TextKind
from swarmgate.domain.state.state import State


def _decision(number: int, text: str, phase: int = 0, goal: int = 0) -> Decision:
    return Decision(id=f"D{number}", text=text, phase=phase, goal=goal, place=Place(line=number))


def _task(number: int, text: str, phase: int = 0) -> LaterText:
    return LaterText(TextKind.PLAN, text, Place(file="plan.md", line=number), str(number), phase=phase)


def test_at_most_five_and_no_decision_takes_all_the_places() -> None:
    laters = [_task(n, f"Hash passwords with bcrypt, part {n}") for n in range(8)]
    laters.append(_task(9, "Configure webpack to bundle the front end"))
    decisions = (_decision(1, "Use argon2 for password hashes"), _decision(2, "We bundle with Vite"))
    report = detect(Material(State(), decisions, tuple(laters)))
    assert len(report.signals) == MOST_SIGNALS
    assert report.left_out == 4
    assert [each.decision for each in report.signals[:2]] == ["D1", "D2"]
    assert (report.compared.decisions, report.compared.plan) == (2, 9)


def test_one_signal_for_a_task_however_often_it_says_it() -> None:
    laters = [_task(1, "Hash passwords with bcrypt"), _task(1, "Passwords are hashed with bcrypt")]
    assert len(detect(Material(State(), (_decision(1, "Use argon2 for passwords"),), tuple(laters))).signals) == 1


def test_only_what_comes_after_a_decision_speaks_against_it() -> None:
    state = State(goals=2)
    recorded, own = _decision(1, "x", phase=2, goal=2), _decision(2, "x", phase=2)
    told = [[follows(each, _task(1, "y", phase), state) for phase in (1, 2, 3)] for each in (recorded, own)]
    assert told == [[False, False, True], [False, True, True]]
    assert follows(_decision(3, "x", phase=9, goal=1), _task(1, "y", 1), state)


@pytest.mark.slow
def test_two_hundred_decisions_and_five_thousand_tasks() -> None:
    decisions = tuple(
        _decision(n, f"Service {n} stores its invoices{n} in Postgres and uses httpx") for n in range(200)
    )
    laters = tuple(_task(n, f"Task {n}: write the view number{n} of the report and its tests") for n in range(5_000))
    started = time.process_time()
    report = detect(Material(State(), decisions, laters))
    assert time.process_time() - started < 2
    assert not report.signals


def test_a_text_of_an_earlier_phase_is_no_signal() -> None:
    later = _task(1, "Hash passwords with bcrypt", phase=1)
    decided = "Use argon2 for password hashes"
    told = [len(detect(Material(State(), (_decision(1, decided, phase),), (later,))).signals) for phase in (0, 1, 2)]
    assert told == [1, 1, 0]


def test_of_two_decisions_the_later_one_speaks_against_the_earlier_one_and_once() -> None:
    decisions = (
        _decision(1, "Use argon2 for password hashes"),
        _decision(2, "Hash passwords with bcrypt"),
        _decision(3, "Hash passwords with bcrypt."),
    )
    signals = detect(Material(State(), decisions)).signals
    assert [(each.decision, each.other) for each in signals] == [("D1", "Hash passwords with bcrypt")]


@pytest.mark.slow
def test_ten_thousand_decisions_keep_the_newest_and_are_quick() -> None:
    decisions = tuple(
        _decision(n, f"Use argon2 instead of bcrypt for password hashes in part{n}") for n in range(10_000)
    )
    last = (_decision(10_000, "Sessions expire after 30 minutes"),)
    later = _task(1, "Set the session expiry to 2 hours")
    started = time.process_time()
    report = detect(Material(State(), (*decisions, *last), (later,)))
    assert time.process_time() - started < 5
    assert [each.decision for each in report.signals] == ["D10000"]
    assert len(report.decisions) == MOST
    assert report.notes[0].startswith("10,001 decisions on record: the newest 2,000 were compared, 8,001 older ones")


@pytest.mark.slow
def test_alike_decisions_are_quick_too() -> None:
    hashes = tuple(
        _decision(n, f"Use {('argon2', 'bcrypt')[n % 2]} for password hashes of part{n}") for n in range(MOST)
    )
    started = time.process_time()
    report = detect(Material(State(), hashes))
    assert time.process_time() - started < 5
    assert len(report.signals) == MOST_SIGNALS
