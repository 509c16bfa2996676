"""Tests the detection of stale decisions and of requirements that no task covers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from swarmgate.automation.drift.comparison import LaterText
from swarmgate.automation.drift.detection import Material, detect
from swarmgate.automation.drift.gaps import requirements, uncovered
from swarmgate.automation.drift.report import Decision, DriftReport, Place, SignalKind, TextKind
from swarmgate.automation.drift.tokens import content, tokens
from swarmgate.domain.events.event import AttemptKind
from swarmgate.domain.plan.plan import Phase, Plan, Task
from swarmgate.domain.state.state import Attempt, State, TaskRecord

SPEC = """# Shop

The shop is old.

- Customers export their invoices as PDF
- Orders are archived after a year
The service must throttle anonymous visitors.

## Out of scope
- Discount vouchers for partners
"""


def test_requirements_are_points_and_sentences_that_ask() -> None:
    found = [(text, place.line) for text, place in requirements(SPEC, Place(file="spec.md"))]
    assert found == [
        ("Customers export their invoices as PDF", 5),
        ("Orders are archived after a year", 6),
        ("The service must throttle anonymous visitors.", 7),
    ]


def test_a_requirement_is_covered_by_tasks_that_speak_of_it_in_other_endings() -> None:
    plan = [
        content(tokens(text))
        for text in ("PDF exporter for the invoices of a customer", "Archive orders of the last year", "Login page")
    ]
    missing = [text for text, _, _ in uncovered(requirements(SPEC, Place()), plan)]
    assert missing == ["The service must throttle anonymous visitors."]
    assert not list(uncovered(requirements(SPEC, Place()), []))


def test_a_requirement_has_the_line_that_an_editor_shows() -> None:
    [(_, place)] = requirements("Intro\u2028more\n\x0c\n- Customers export their invoices as PDF\n", Place(file="s"))
    assert place.line == 3


TASKS = (
    "Booking form with date, room and number of guests",
    "Send a confirmation mail after a booking",
    "List of the rooms with price and photo",
    "Sign in with mail address and password; lock after five failures",
    "Nightly export of bookings as CSV to the accounting folder",
    "Cancel a booking up to 24 hours before arrival and refund the deposit",
)
LABELLED = (
    ("Guests book a room for a date", False),
    ("A confirmation is mailed after each booking", False),
    ("Every room is shown with its photo and price", False),
    ("Accounts are locked after five failed sign-ins", False),
    ("Bookings are exported nightly for accounting", False),
    ("Cancellations up to 24 hours before arrival refund the deposit", False),
    ("Prices can be shown in euros and in Swiss francs", True),
    ("Staff print a weekly cleaning roster", True),
    ("The pages meet WCAG 2.2 level AA for screen readers", True),
    ("Loyalty points are credited to returning visitors", True),
    ("Backups are encrypted and restored monthly as a drill", True),
    ("Partners query availability over a public API with quotas", True),
)
"""Requirements of a spec, and whether none of `TASKS` covers them."""


def test_a_labelled_dozen_of_requirements() -> None:
    spec = "".join(f"- {text}\n" for text, _ in LABELLED)
    plan = [content(tokens(each)) for each in TASKS]
    told = {text for text, *_ in uncovered(requirements(spec, Place()), plan)}
    missing = {text for text, lacking in LABELLED if lacking}
    assert len(told & missing) >= 0.9 * len(told)
    assert len(told & missing) >= 5


def _report(decision: Decision, *, phases: int = 3, later: str = "Draw the chart") -> DriftReport:
    """A project in which work was done in so many phases, all of them on charts."""
    tasks = [Task(id=f"{number}.1", title="Draw the chart") for number in range(1, phases + 1)]
    plan = Plan(title="Charts", phases=tuple(Phase(name="Charts", tasks=(each,)) for each in tasks))
    state = State(plan=plan, goals=1)
    for each in tasks:
        state = replace(state, tasks=state.tasks.set(each.id, TaskRecord(attempts=(ATTEMPT,))))
    laters = tuple(
        LaterText(TextKind.PLAN, later, Place(line=number), each.id, each.title, number)
        for number, each in enumerate(tasks, start=1)
    )
    return detect(Material(state, (decision,), laters))


ATTEMPT = Attempt(number=1, kind=AttemptKind.CODER, scope=(), instructions="", tree="", seq=1, started="")
OLD = Decision(id="D1", text="Invoices carry the logo of the tenant", phase=1, place=Place(line=4))


def test_a_decision_that_two_phases_do_not_touch_is_stale_and_no_drift() -> None:
    report = _report(OLD)
    assert [(each.kind, each.decision) for each in report.signals] == [(SignalKind.STALE, "D1")]
    assert "phases 2 and 3" in report.signals[0].why
    assert not report.drifted


@pytest.mark.parametrize(
    ("decision", "phases", "later"),
    [
        (OLD, 2, "Draw the chart"),
        (OLD, 1, "Draw the chart"),
        (OLD, 3, "Print the invoice"),
        (OLD.model_copy(update={"phase": 2}), 3, "Draw the chart"),
        (OLD.model_copy(update={"text": "Never mail invoices to tenants"}), 3, "Draw the chart"),
        (OLD.model_copy(update={"text": "Unit tests of invoices run under pytest"}), 3, "Draw the chart"),
    ],
    ids=["taken in the last two", "one phase", "touched", "young", "a prohibition", "holds for all"],
)
def test_what_is_not_stale(decision: Decision, phases: int, later: str) -> None:
    assert not _report(decision, phases=phases, later=later).signals


def test_a_contradicted_decision_is_not_told_as_stale_too() -> None:
    spoken = OLD.model_copy(update={"text": "Use argon2 for passwords"})
    report = _report(spoken, later="Hash a passphrase with bcrypt")
    assert {each.kind for each in report.signals} == {SignalKind.CONTRADICTION}
    assert report.drifted
