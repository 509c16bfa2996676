from __future__ import annotations

import time

from swarmgate.automation.drift.comparing import Later
from swarmgate.automation.drift.detecting import Material, detect
from swarmgate.automation.drift.texts import follows
from swarmgate.domain.drift import MOST_SIGNALS, Decision, Place, TextKind
from swarmgate.domain.state import State


def _decision(number: int, text: str, phase: int = 0, goal: int = 0) -> Decision:
    return Decision(id=f"D{number}", text=text, phase=phase, goal=goal, place=Place(line=number))


def _task(number: int, text: str, phase: int = 0) -> Later:
    return Later(TextKind.PLAN, text, Place(file="plan.md", line=number), str(number), phase=phase)


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


def test_two_hundred_decisions_and_five_thousand_tasks() -> None:
    decisions = tuple(
        _decision(n, f"Service {n} stores its invoices{n} in Postgres and uses httpx") for n in range(200)
    )
    laters = tuple(_task(n, f"Task {n}: write the view number{n} of the report and its tests") for n in range(5_000))
    started = time.process_time()
    report = detect(Material(State(), decisions, laters))
    assert time.process_time() - started < 2
    assert not report.signals
