"""Projects told in events: the few that a test starts from, and random walks over legal events."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import Entry, Event
from swarmgate.domain.next_step import Step, blocked_task, next_step, next_task, open_questions
from swarmgate.domain.plan.plan import Phase, Plan, Task
from swarmgate.domain.review.evidence import Review, TestRun, Verdict
from swarmgate.domain.review.finding import GateStatus
from swarmgate.domain.review.votes import Tally, Vote
from swarmgate.domain.state.phase_verdict import Standing, judged_stage, reviewers, standing
from swarmgate.domain.state.state import Planning, State
from swarmgate.domain.transitions.fold import fold
from swarmgate.domain.transitions.task import attempt_kind
from swarmgate.domain.usage import Usage
from swarmgate.errors import SwarmError

YES = Review(verdict=Verdict.APPROVED, summary="Does what it says.")
NO = Review(verdict=Verdict.REJECTED, summary="Missing expiration claim")
GREEN = TestRun(command="pytest", exit_code=0, passed=3, failed=0)
RED = TestRun(command="pytest", exit_code=1, passed=2, failed=1)
TIME = "2026-11-21T13:00:00.000Z"


def make_task(task_id: str, *depends: str, title: str = "", description: str = "") -> Task:
    return Task(
        id=task_id,
        title=title or f"Part {task_id}",
        description=description,
        acceptance=(f"part {task_id} works",),
        files=(f"src/part_{task_id}.py",),
        depends=depends,
    )


def make_plan(*phases: Sequence[Task], title: str = "Parts") -> Plan:
    return Plan(title=title, phases=tuple(Phase(name=f"Stage {n}", tasks=tuple(p)) for n, p in enumerate(phases, 1)))


PLAN = make_plan([make_task("1.1"), make_task("1.2", "1.1"), make_task("1.3")], [make_task("2.1", "1.1")])


def entries(events: Iterable[Event], seq: int = 0) -> Iterator[Entry]:
    for number, event in enumerate(events, start=seq + 1):
        yield Entry(seq=number, time=TIME, actor="swarmgate", event=event)


def play(state: State, *events: Event) -> State:
    return fold(state, entries(events, state.seq))


def legal(state: State, *events: Event) -> bool:
    try:
        play(state, *events)
    except SwarmError:
        return False
    return True


def planned(plan: Plan = PLAN) -> list[Event]:
    return [ev.GoalSet(goal="Add parts"), ev.PlanSaved(plan=plan), ev.PlanReviewed(review=YES)]


def started(plan: Plan = PLAN, **rules: int) -> list[Event]:
    """The plan is approved and the first run has begun."""
    run = ev.RunStarted(pid=1, host="here", **rules)
    return [*planned(plan), ev.PlanApproved(), run, ev.WorkStarted(branch="swarm/parts", base="b0")]


def delegated(task: str, number: int = 1, kind: ev.AttemptKind = ev.AttemptKind.CODER) -> Event:
    return ev.TaskDelegated(
        task=task,
        attempt=number,
        kind=kind,
        scope=(f"src/part_{task}.py",),
        instructions="Write it.",
        tree=f"t{number}",
    )


def passing(task: str, number: int = 1, kind: ev.AttemptKind = ev.AttemptKind.CODER) -> list[Event]:
    """A whole attempt that ends in a commit; `passing(...)[:n]` stops on the way."""
    return [
        delegated(task, number, kind),
        ev.ChangeCaptured(task=task, attempt=number, tree="c", files=(f"src/part_{task}.py",)),
        ev.GatesRun(task=task, attempt=number, tree="g", passed=True, statuses={"ruff": GateStatus.PASS}),
        ev.ReviewGiven(task=task, attempt=number, review=YES, passed=True),
        ev.TestsWritten(task=task, attempt=number, tree="w", review=YES, tests=(f"tests/test_{task}.py",)),
        ev.TestsRun(task=task, attempt=number, tree="r", run=GREEN, passed=True),
        ev.TaskCompleted(task=task, attempt=number, commit="c0ffee", tree="r"),
    ]


MOST_ASKED = 2


def question(task: str, number: int = 1, step: str = "code") -> Event:
    """A question of an agent in the middle of its turn."""
    return ev.TaskQuestionAsked(
        task=task,
        attempt=number,
        role="architect" if step == "delegate" else "coder",
        step=step,
        question="Which unit?",
        options=("metres", "feet"),
        why="All numbers hang on it.",
        assumption="metres",
        tree="" if step == "delegate" else "q",
    )


def debated(task: str = "", number: int = 0, verdict: str = "APPROVE") -> Event:
    """A debate in which both voices are of one mind."""
    agreed = {"approve": 2} if verdict == "APPROVE" else {"reject": 2}
    return ev.DebateWeighed(
        task=task,
        attempt=number,
        mode="debate",
        held=True,
        why="so it is set",
        debate=f"task-{task}-attempt-{number}" if task else "plan-round-1",
        verdict=Vote(verdict),
        tally=Tally(**agreed),
        decided_by="majority",
        tokens=500,
        debated=500,
    )


def rejection(task: str, number: int, stage: str = "reviewer", reason: str = "Missing expiration claim") -> Event:
    return ev.AttemptRejected(task=task, attempt=number, stage=stage, reason=reason)


def rejected(
    task: str, number: int, stage: str = "reviewer", kind: ev.AttemptKind = ev.AttemptKind.CODER
) -> list[Event]:
    """An attempt that somebody rejects right after the coder's turn."""
    return [*passing(task, number, kind)[:2], rejection(task, number, stage)]


def blocked(task: str = "1.1", stage: str = "reviewer") -> list[Event]:
    """Two rejections, the escalated attempt, its rejection, and the block."""
    return [
        *rejected(task, 1, stage),
        *rejected(task, 2, stage),
        *rejected(task, 3, stage, ev.AttemptKind.ESCALATED),
        ev.TaskBlocked(task=task, stage=stage, reason="Missing expiration claim"),
    ]


# --- random walks ---


def engine_batches(state: State) -> list[list[Event]]:
    """Everything that the step that is due now may record, one list for each outcome."""
    step = next_step(state)
    planning: dict[Step, list[list[Event]]] = {
        Step.PLAN: [
            [ev.PlanSaved(plan=PLAN)],
            [ev.QuestionsAsked(questions=("Which database?", "Why?"))],
            [ev.PlanningFailed(problems=("no",))],
        ],
        Step.REVISE: [*_saved(_revisions(state)), [ev.PlanningFailed(problems=("no",))]],
        Step.REVIEW_PLAN: [
            [ev.PlanReviewed(review=YES)],
            [ev.PlanReviewed(review=NO)],
            [debated(), ev.PlanReviewed(review=YES)],
        ],
        Step.START_WORK: [[ev.WorkStarted(branch="swarm/parts", base="b0")]],
        Step.ESTIMATE: [[ev.PhaseEstimated(phase=state.current_phase, tasks=1, basis=1)]],
        Step.EVALUATE_PHASE: _verdicts(state),
        Step.VALIDATE_PHASE: _verdicts(state),
        Step.TEST_PHASE: [*_verdicts(state), *_regressions(state)],
        Step.CLOSE_PHASE: [[ev.PhaseClosed(phase=state.current_phase, summary="Done.", decisions=("argon2",))]],
    }
    if step is None:
        return []
    return planning[step] if step in planning else _task_batches(state, step)


def _verdicts(state: State) -> list[list[Event]]:
    """What the next reviewer of the phase may say; nothing that can be read among it."""
    stage, record = judged_stage(state), state.phase(state.current_phase)
    if stage is None:
        return []
    fields = {"round": record.round(stage), "number": len(record.verdicts(stage)) + 1, "of": reviewers(state, stage)}
    said: list[tuple[Review, bool]] = [(YES, False), (NO, False), (NO, True)]
    return [
        [ev.PhaseReviewed(phase=state.current_phase, stage=stage, review=review, failed=failed, **fields)]
        for review, failed in said
    ]


def _regressions(state: State) -> list[list[Event]]:
    """The tests of the phase fail by one of its tasks, or by all that were completed."""
    if state.plan is None or judged_stage(state) != "tests":
        return []
    refused = _verdicts(state)[1]
    tasks = [task.id for task in state.plan.phase(state.current_phase).tasks if state.task(task.id).commit]
    return [[*refused, regressed(state, *tasks)], [*refused, regressed(state, tasks[0])]]


def regressed(state: State, *tasks: str) -> Event:
    """The tests of the current phase fail since the commits of these tasks."""
    culprits = [
        ev.Culprit(
            task=task, commit=state.task(task).commit, failures=("test_a",), reason="since its commit fails test_a"
        )
        for task in tasks
    ]
    return ev.PhaseRegressed(phase=state.current_phase, culprits=tuple(culprits))


def _saved(plans: Iterable[Plan]) -> list[list[Event]]:
    return [[ev.PlanSaved(plan=plan)] for plan in plans]


def _task_batches(state: State, step: Step) -> list[list[Event]]:
    attempt = state.task(state.open).running
    if step is Step.DECLINE:
        return [[ev.QuestionAnswered(number=len(state.questions), answer="", declined=True)]]
    if attempt is None:
        task = next_task(state)
        assert task is not None
        number = len(state.task(task.id).attempts) + 1
        block = ev.TaskBlocked(task=task.id, stage="architect", reason="no delegation")
        if step is Step.BLOCK:
            return [[block]]
        asks = [[question(task.id, number, "delegate")]] if len(state.asked_about(task.id)) < MOST_ASKED else []
        return [[delegated(task.id, number, attempt_kind(state, task.id))], [block], *asks]
    task_id, number = state.open, attempt.number
    whole = passing(task_id, number)
    names = [[Step.CODE, Step.IMPLEMENT, Step.CAPTURE], [Step.GATES], [Step.REVIEW], [Step.TEST], [Step.RUN_TESTS]]
    if step is Step.RECOVER:
        died = ev.AttemptInterrupted(task=task_id, attempt=number, reason="the run died")  # as older ledgers have it
        return [[ev.TreeRestored(tree=state.tree)], [ev.TreeRestored(tree=state.tree), died]]
    if step is Step.COMMIT:
        return [[whole[6]], [rejection(task_id, number, "commit")]]
    if step is Step.SECURITY_REVIEW:
        given = ev.SecurityReviewGiven(task=task_id, attempt=number, review=YES, passed=True)
        refused = ev.SecurityReviewGiven(task=task_id, attempt=number, review=NO, passed=False)
        return [[given], [refused, rejection(task_id, number, "security_reviewer")]]
    if step is Step.ADVERSARIAL_TEST:
        held = ev.AdversarialTestsWritten(task=task_id, attempt=number, tree="a", review=YES, tests=("tests/a.py",))
        return [[held], [held, rejection(task_id, number, "adversarial_tests")]]
    if step is Step.REVIEW_TESTS:
        seen = ev.TestsReviewed(task=task_id, attempt=number, review=YES, passed=True)
        refused_tests = ev.TestsReviewed(task=task_id, attempt=number, review=NO, passed=False)
        return [[seen], [refused_tests, rejection(task_id, number, "reviewer")]]
    place = next(index for index, steps in enumerate(names, start=1) if step in steps)
    stage = ("coder", "gates: ruff", "reviewer", "test_engineer", "tests")[place - 1]
    failing = [*_failing(task_id, number)[place - 1], rejection(task_id, number, stage)]
    judge_stopped = [rejection(task_id, number, "breaker: idle")]
    more: list[list[Event]] = [judge_stopped] if step in (Step.REVIEW, Step.TEST) else []
    if step is Step.REVIEW:
        more += [[debated(task_id, number), whole[place]], [debated(task_id, number, "REJECT"), *failing]]
    if step in (Step.CODE, Step.IMPLEMENT) and len(state.asked_about(task_id)) < MOST_ASKED:
        more.append([question(task_id, number)])
    if step is Step.GATES:
        sensitive = ev.GatesRun(
            task=task_id,
            attempt=number,
            tree="g",
            passed=True,
            statuses={"ruff": GateStatus.PASS},
            sensitive=("src/auth.py: path",),
        )
        more = [[sensitive]]
    if step is Step.RUN_TESTS:
        some = GREEN.model_copy(update={"related": True})
        more = [[ev.TestsRun(task=task_id, attempt=number, tree="r", run=some, passed=True)]]
    return [[whole[place]], failing, *more]


def _failing(task: str, number: int) -> list[list[Event]]:
    return [
        [passing(task, number)[1]],
        [ev.GatesRun(task=task, attempt=number, tree="g", passed=False, statuses={"ruff": GateStatus.FAIL})],
        [ev.ReviewGiven(task=task, attempt=number, review=NO, passed=False)],
        [ev.TestsWritten(task=task, attempt=number, tree="w", review=NO)],
        [ev.TestsRun(task=task, attempt=number, tree="r", run=RED, passed=False)],
    ]


def _revisions(state: State) -> list[Plan]:
    """Plans that might follow the present one: another title, another task, one less, one changed, one phase more."""
    old = state.plan or PLAN
    last = old.phases[-1]
    number = len(old.phases)
    more = make_task(f"{number}.{len(last.tasks) + 5}")
    changed = last.tasks[-1].model_copy(update={"title": f"{last.tasks[-1].title}, better"})

    def with_last(*tasks: Task) -> Plan:
        return Plan(title=old.title, phases=(*old.phases[:-1], Phase(name=last.name, tasks=tasks)))

    return [
        PLAN,
        Plan(title=f"{old.title}!", phases=old.phases),
        with_last(*last.tasks, more),
        with_last(*last.tasks[:-1]),
        with_last(*last.tasks[:-1], changed),
        Plan(title=old.title, phases=(*old.phases, Phase(name="Next", tasks=(make_task(f"{number + 1}.1"),)))),
    ]


def other_batches(state: State) -> list[list[Event]]:
    """What users, crashes and broken programs may try at any time; most of it is illegal most of the time."""
    running = state.task(state.open).running
    number = running.number if running else 1
    single: list[Event] = [
        ev.GoalSet(goal="Something else"),
        ev.QuestionAnswered(number=1, answer="Postgres"),
        ev.QuestionAnswered(number=2, answer="Because"),
        ev.PlanApproved(),
        ev.PhaseApproved(phase=state.current_phase),
        ev.RevisionRequested(text="use argon2"),
        ev.RunStarted(pid=2, host="here"),
        ev.RunStarted(pid=3, host="here", max_rejections=1, critic_rounds=1),
        ev.RunStarted(pid=4, host="here", adversarial="always"),
        ev.RunStarted(pid=5, host="here", validators=2, phase_gate=True),
        ev.RunStarted(pid=6, host="here", decline=True),
        *(ev.QuestionAnswered(number=each.number, answer="", declined=True) for each in state.questions),
        ev.RunStarted(pid=8, host="here", phase_tests=True),
        ev.RunStarted(pid=7, host="here", phase_tests=True, validators=1),
        *(event for batch in _regressions(state) for event in batch),
        *(event for batch in _verdicts(state) for event in batch),
        *_decided(state),
        ev.RunPaused(reason=ev.PauseReason.STOPPED, between_steps=True),
        ev.RunPaused(reason=ev.PauseReason.ENDPOINT),
        ev.TreeRestored(tree="x"),
        ev.GoalAbandoned(reason="something else is wanted"),
        ev.UsageRecorded(role="coder", task="1.1", usage=Usage(calls=1)),
        ev.PhaseClosed(phase=state.current_phase, summary="Early."),
        ev.WorkStarted(branch="swarm/again", base="b1"),
        *(ev.PlanAmended(plan=plan, source="plan.md") for plan in _revisions(state)),
    ]
    for task in state.plan.tasks if state.plan else ("1.1",):
        last = state.task(task).last
        single += [
            ev.TaskRetried(task=task, note="mind the gap"),
            ev.TaskSkipped(task=task, reason="not needed"),
            ev.TaskReopened(task=task, commit=state.task(task).commit),
            ev.TaskUndone(task=task, commit=state.task(task).commit, revert="beef"),
            ev.CommitMoved(task=task, was=state.task(task).commit, commit="c0ffee2"),
            ev.RejectionOverridden(task=task, stage=last.stage if last else "", reason="I know better"),
            ev.AttemptInterrupted(task=task, attempt=number, reason="stopped"),
            ev.TaskBlocked(task=task, stage="x", reason="y"),
            rejection(task, number),
            question(task, number),
            question(task, number, "delegate"),
            *passing(task, number),
            *passing(task, number + 1)[:1],
            ev.SecurityReviewGiven(task=task, attempt=number, review=YES, passed=True),
            ev.AdversarialTestsWritten(task=task, attempt=number, tree="a", review=YES),
        ]
    return [[event] for event in single]


def user_batches(state: State) -> list[list[Event]]:
    """What a user who wants to get on does in this waiting state."""
    if state.planning is Planning.NONE or state.finished:
        return [[ev.GoalSet(goal="Add parts")]]
    if asked := open_questions(state):
        return [[ev.QuestionAnswered(number=each.number, answer="yes")] for each in asked]
    if state.planning is not Planning.APPROVED:
        return [[ev.PlanApproved()], [ev.RevisionRequested(text="more")], [ev.GoalSet(goal="Add parts")]]
    if task := blocked_task(state):
        last = state.task(task.id).last
        return [
            [ev.TaskRetried(task=task.id)],
            [ev.RejectionOverridden(task=task.id, stage=last.stage if last else "", reason="fine")],
            [ev.TaskSkipped(task=task.id, reason="later")],
            [ev.TaskUndone(task=task.id)],
            [ev.GoalAbandoned(reason="it cannot be done")],
        ]
    return [[event] for event in _decided(state)] or [[ev.PhaseApproved(phase=state.current_phase)]]


def _decided(state: State) -> list[Event]:
    """What the user may decide about a phase that its reviewers rejected."""
    stage, number = judged_stage(state), state.current_phase
    if stage is None or standing(state) is not Standing.REJECTED:
        return []
    return [ev.PhaseRetried(phase=number), ev.PhaseOverridden(phase=number, stage=stage, reason="I know")]


def walk(seed: int, steps: int = 120) -> Iterator[tuple[State, Event, State]]:
    """The legal events of one random project, each with the state before and after it.

    Two of three choices let the engine or the user go on, mostly well; the third picks any other legal event.
    """
    chance = random.Random(seed)  # noqa: S311 - a test's choices, no secret
    state = State()
    for _ in range(steps):
        choice = chance.randrange(10_000)
        pick = choice // 3
        if choice % 3:
            batches = engine_batches(state) or user_batches(state)
            pick = 0 if pick % 4 else pick // 4
        else:
            batches = [batch for batch in other_batches(state) if legal(state, *batch)]
        for event in batches[pick % len(batches)] if batches else ():
            if not legal(state, event):
                break
            before, state = state, play(state, event)
            yield before, event, state
