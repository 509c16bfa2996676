"""What evidence is due is decided from the events alone, and what keeps a task from being complete from the state."""

from __future__ import annotations

import pytest
from tests.domain.story import (
    GREEN,
    TIME,
    YES,
    blocked,
    debated,
    entries,
    make_plan,
    make_task,
    passing,
    play,
    rejected,
    rejection,
    started,
    walk,
)

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import Entry, Event
from swarmgate.domain.evidence.report import Kind, Piece, Standing, recorded, still_due, task_evidence
from swarmgate.domain.evidence.summary import summary
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.review.evidence import Proof
from swarmgate.domain.review.finding import GateStatus
from swarmgate.domain.state.state import Outcome, State, TaskStatus

ONE, TWO = "1" * 64, "2" * 64


def _due(*events: Event, attempt: int = 1) -> set[Kind | str]:
    return {kind for task, number, kind in recorded(entries(events)).claims if (task, number) == ("1.1", attempt)}


def test_of_an_attempt_that_the_gates_rejected_no_review_is_due() -> None:
    failed = ev.GatesRun(task="1.1", attempt=1, tree="g", passed=False, statuses={"ruff": GateStatus.FAIL})
    assert _due(*passing("1.1")[:2], failed, rejection("1.1", 1, "gates: ruff")) == {Kind.DIFF, Kind.GATES}


def test_of_a_whole_attempt_everything_that_ran_is_due_and_nothing_else() -> None:
    assert _due(*passing("1.1")) == {Kind.DIFF, Kind.GATES, Kind.REVIEW, Kind.TESTS, Kind.FINAL_GATES}


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (ev.SecurityReviewGiven(task="1.1", attempt=1, review=YES, passed=True), Kind.SECURITY),
        (ev.AdversarialTestsWritten(task="1.1", attempt=1, tree="a", review=YES), Kind.ADVERSARIAL),
        (debated("1.1", 1).model_copy(update={"evidence": ONE}), Kind.DEBATE),
        (rejection("1.1", 1, "mutation"), Kind.MUTATION),
        (
            ev.GuardActed(task="1.1", note=GuardNote(rule="mutation", effect=Effect.NOTED, detail="3 of 3", attempt=1)),
            Kind.MUTATION,
        ),
    ],
)
def test_what_happens_only_sometimes_is_due_where_it_happened(event: Event, kind: Kind) -> None:
    assert kind not in _due(*passing("1.1"))
    assert kind in _due(*passing("1.1"), event)


def test_a_debate_that_was_not_held_leaves_nothing() -> None:
    assert Kind.DEBATE not in _due(debated("1.1", 1).model_copy(update={"evidence": ""}))


@pytest.mark.parametrize(("status", "due"), [(GateStatus.PASS, True), (GateStatus.SKIP, False)])
def test_components_are_due_where_their_gate_ran_and_the_final_tree_was_judged(
    status: GateStatus, *, due: bool
) -> None:
    judged = ev.GatesRun(task="1.1", attempt=1, tree="g", passed=True, statuses={"sbom_generate": status})
    assert Kind.SBOM not in _due(judged)
    ran = ev.TestsRun(task="1.1", attempt=1, tree="r", run=GREEN, passed=True)
    assert (Kind.SBOM in _due(judged, ran)) == due


def test_the_run_before_the_change_is_due_where_it_proved_something() -> None:
    proof = Proof(tests=("tests/test_a.py",), run=GREEN, able=True)
    assert Kind.BEFORE in _due(ev.TestsRun(task="1.1", attempt=1, tree="r", run=GREEN, passed=True, proof=proof))


def test_the_newest_hash_counts_and_a_new_goal_begins_anew() -> None:
    given = [ev.ReviewGiven(task="1.1", attempt=1, review=YES, passed=True, evidence=each) for each in (ONE, TWO)]
    found = recorded(entries(given))
    assert found.claims["1.1", 1, Kind.REVIEW].sha256 == TWO
    assert found.claims["1.1", 1, Kind.REVIEW].seq == 2
    assert recorded(entries([*given, ev.GoalSet(goal="More")])).claims == {}


def _state(*events: Event) -> State:
    return play(State(), *events)


@pytest.mark.parametrize(
    ("events", "status", "blocker"),
    [
        (started(), TaskStatus.PENDING, "no attempt yet"),
        (
            [*started(), *passing("1.1")[:1]],
            TaskStatus.IN_PROGRESS,
            "attempt 1 goes on; still due: diff, gates, review, tests, final_gates, commit",
        ),
        (
            [*started(), *passing("1.1")[:3]],
            TaskStatus.IN_PROGRESS,
            "attempt 1 goes on; still due: review, tests, final_gates, commit",
        ),
        ([*started(), *passing("1.1")[:6]], TaskStatus.IN_PROGRESS, "attempt 1 goes on; still due: commit"),
        (
            [*started(), *rejected("1.1", 1)],
            TaskStatus.IN_PROGRESS,
            "attempt 1: REJECTED (reviewer): Missing expiration claim",
        ),
        ([*started(), *blocked()], TaskStatus.BLOCKED, "blocked: (reviewer) Missing expiration claim"),
        ([*started(), ev.TaskSkipped(task="1.1", reason="not needed")], TaskStatus.SKIPPED, "given up: not needed"),
        ([*started(), *passing("1.1")], TaskStatus.COMPLETE, ""),
    ],
)
def test_blockers_say_what_keeps_a_task_from_being_complete(
    events: list[Event], status: TaskStatus, blocker: str
) -> None:
    found = task_evidence(_state(*events), "1.1", {})
    assert (found.status, "".join(found.blockers), found.proven) == (status, blocker, True)


def test_a_task_that_waits_for_another_says_for_which() -> None:
    assert task_evidence(_state(*started()), "1.2", {}).blockers == ("no attempt yet, it waits for 1.1",)


def test_a_security_review_that_is_due_is_named_while_it_is_not_there() -> None:
    judged = passing("1.1")[2].model_copy(update={"sensitive": ("src/auth.py: path",)})
    state = _state(*started(), *passing("1.1")[:2], judged, passing("1.1")[3])
    running = state.task("1.1").running
    assert running is not None
    assert still_due(running) == ("security", "tests", "final_gates", "commit")


@pytest.mark.parametrize("standing", [Standing.MISSING, Standing.CHANGED])
def test_evidence_that_does_not_prove_what_is_recorded_is_a_blocker_of_a_complete_task(standing: Standing) -> None:
    piece = Piece(kind=Kind.REVIEW, standing=standing, path="x/review.json", problem="x/review.json is wrong")
    found = task_evidence(_state(*started(), *passing("1.1")), "1.1", {1: (piece,)})
    assert not found.proven
    assert found.blockers == ("attempt 1: x/review.json is wrong",)


def test_archived_evidence_proves() -> None:
    piece = Piece(kind=Kind.REVIEW, standing=Standing.ARCHIVED, path="a.tar.gz")
    assert task_evidence(_state(*started(), *passing("1.1")), "1.1", {1: (piece,)}).blockers == ()


@pytest.mark.parametrize("seed", range(15))
def test_every_state_of_a_random_project_has_a_report_with_a_reason_unless_it_is_complete(seed: int) -> None:
    log: list[Entry] = []
    for _, event, state in walk(seed, 60):
        log.append(Entry(seq=state.seq, time=TIME, actor="x", event=event))
        claims = recorded(log)
        for task in state.plan.tasks if state.plan else ():
            found = task_evidence(state, task, {})
            assert bool(found.blockers) == (found.status is not TaskStatus.COMPLETE)
            assert summary(state, found, claims)[0]
            if (last := state.task(task).last) and last.outcome is Outcome.COMPLETE:
                needed = {Kind.DIFF, Kind.GATES, Kind.REVIEW, Kind.TESTS, Kind.FINAL_GATES}
                assert needed <= {kind for t, n, kind in claims.claims if (t, n) == (task, last.number)}


def test_the_summary_tells_the_story_and_words_of_models_stay_words() -> None:
    plan = make_plan([make_task("1.1", title="# Part *one*", description="Do it\n## now")])
    note = GuardNote(rule="authority", effect=Effect.REFUSED, detail="wrote <b>", role="coder", attempt=1, count=3)
    bad = [*passing("1.1")[:2], rejection("1.1", 1, "reviewer", "## Take over")]
    guard = ev.GuardActed(task="1.1", note=note)
    given = passing("1.1", 2)[3].model_copy(update={"review": YES.model_copy(update={"model": "local/judge"})})
    again = [given if isinstance(each, ev.ReviewGiven) else each for each in passing("1.1", 2)]
    events = [*started(plan), *bad, guard, *again]
    state, claims = _state(*events), recorded(entries(events))
    piece = Piece(kind=Kind.DIFF, standing=Standing.PRESENT, path=".swarm/evidence/1.1/attempt-2/change.patch")
    lines = summary(state, task_evidence(state, "1.1", {2: (piece,)}), claims)
    assert lines == (
        r"\# Part \*one\*",
        "- Asked: Do it ## now",
        r"- Accepted when: part 1.1 works",
        "- Status: complete after 2 attempts, commit c0ffee",
        r"- Attempt 1 (coder): REJECTED by reviewer: \## Take over",
        r"  - guard authority: refused: wrote \<b> (3 times)",
        "- Attempt 2 (coder): COMPLETE",
        "  - reviewed by local/judge: APPROVED - Does what it says.",
        "  - tested: APPROVED - Does what it says.",
        "  - tests: 3 passed (0.0 s)",
        "  - evidence, present: `.swarm/evidence/1.1/attempt-2/`: change.patch",
        "  - changed: `src/part_1.1.py`",
    )
