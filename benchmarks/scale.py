"""Measures how fold and projections scale: plans up to 5,000 tasks, ledgers up to 100,000 events.

    python benchmarks/scale.py

Targets at the top: cold fold at most 3 s, one status change with its projections at most 50 ms, peak memory below
300 MB, and linear growth: the cost of one event or task stays the same from row to row.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from swarmgate.domain.events.event import (
    AttemptRejected,
    ChangeCaptured,
    Event,
    GatesRun,
    GoalSet,
    GuardActed,
    PlanApproved,
    PlanReviewed,
    PlanSaved,
    ReviewGiven,
    TaskBlocked,
    TaskCompleted,
    TaskDelegated,
    TaskRetried,
    TestsRun,
    TestsWritten,
    TurnEnded,
    UsageRecorded,
    WorkStarted,
)
from swarmgate.domain.guard import Effect, GuardNote, Turn
from swarmgate.domain.plan.plan import Phase, Plan, Task
from swarmgate.domain.review.evidence import Review, TestRun, Verdict
from swarmgate.domain.review.finding import GateStatus
from swarmgate.domain.usage import Usage
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
APPROVED = Review(verdict=Verdict.APPROVED, summary="Does what the criteria say.", model="bench/senior")
GREEN = TestRun(command="pytest -q", exit_code=0, seconds=1.0, passed=3, failed=0, skipped=0)
SIZES = ((500, 10_000), (1_000, 20_000), (2_500, 50_000), (5_000, 100_000))


def deep_plan(tasks: int) -> Plan:
    """A legal plan of one phase."""
    made = (
        Task(
            id=f"1.{n}",
            title=f"Build part {n}",
            description="It does one thing.",
            acceptance=("it does it",),
            files=(f"src/part_{n}.py", f"tests/test_part_{n}.py"),
            depends=(f"1.{n - 1}",) if n > 1 else (),
        )
        for n in range(1, tasks + 1)
    )
    return Plan(title="A big plan", phases=(Phase(name="All", tasks=tuple(made)),))


def turn(task: str, role: str, step: str, attempt: int) -> TurnEnded:
    """What a turn of usual length took."""
    took = Turn(
        role=role,
        step=step,
        attempt=attempt,
        model="bench/junior",
        calls=6,
        tool_calls=9,
        brief_tokens=2_400,
        tokens=21_000,
        seconds=31.5,
    )
    return TurnEnded(task=task, turn=took)


def one_task(task: str, *, rejections: int) -> list[Event]:
    """The events of a task that is rejected so often by the gates, and then completed, with five turns at least."""
    events: list[Event] = []
    for attempt in range(1, rejections + 2):
        events += [
            turn(task, "architect", "delegate", attempt),
            TaskDelegated(task=task, attempt=attempt, scope=(f"src/part_{task}.py",), instructions="Do it.", tree=TREE),
            turn(task, "coder", "code", attempt),
            ChangeCaptured(task=task, attempt=attempt, tree=TREE, files=(f"src/part_{task}.py",), added=10),
            UsageRecorded(
                role="coder", task=task, usage=Usage(calls=3, prompt_tokens=900, completion_tokens=90, usd=0.01)
            ),
        ]
        if attempt <= rejections:
            events += [
                GatesRun(task=task, attempt=attempt, tree=TREE, passed=False, statuses={"lint_check": GateStatus.FAIL}),
                AttemptRejected(
                    task=task, attempt=attempt, stage="gates: lint_check", reason="src/a.py:1 unused import"
                ),
                GuardActed(
                    task=task,
                    note=GuardNote(
                        rule="scope",
                        effect=Effect.NOTED,
                        detail="1 file outside of the declared scope, 2 accepted: src/b.py",
                        attempt=attempt,
                    ),
                ),
            ]
            if attempt % 2 == 0:  # before the architect would take over
                events += [
                    TaskBlocked(task=task, stage="gates: lint_check", reason="again"),
                    TaskRetried(task=task, note="try again"),
                ]
    last = rejections + 1
    return [
        *events,
        GatesRun(task=task, attempt=last, tree=TREE, passed=True, statuses={"lint_check": GateStatus.PASS}),
        turn(task, "reviewer", "review", last),
        ReviewGiven(task=task, attempt=last, review=APPROVED, passed=True),
        turn(task, "test_engineer", "test", last),
        TestsWritten(task=task, attempt=last, tree=TREE, review=APPROVED, tests=("tests/test_part.py",)),
        turn(task, "test_engineer", "adversarial_test", last),
        TestsRun(task=task, attempt=last, tree=TREE, run=GREEN, passed=True),
        TaskCompleted(task=task, attempt=last, commit=TREE, tree=TREE),
    ]


def deep_ledger(folder: SwarmFolder, *, tasks: int, done: int, events: int = 0) -> int:
    """Records a plan of `tasks` of which `done` are complete, in at least `events` events; returns their number."""
    with Ledger.write(folder) as ledger:
        opening: list[Event] = [
            GoalSet(goal="A big plan"),
            PlanSaved(plan=deep_plan(tasks)),
            PlanReviewed(review=APPROVED),
            PlanApproved(),
            WorkStarted(branch="swarm/a-big-plan", base=TREE),
        ]
        ledger.append(opening, expect=ledger.state.seq)
        batch: list[Event] = []
        for n in range(1, done + 1):
            short = ledger.state.seq + len(batch) + (done - n + 1) * len(one_task("1.1", rejections=0)) < events
            batch += one_task(f"1.{n}", rejections=3 if short else 0)
            if len(batch) > 5_000 or n == done:
                ledger.append(batch, expect=ledger.state.seq)
                batch = []
        return ledger.state.seq


def measure(tasks: int, events: int) -> None:
    """One row, in a process of its own, so that its peak memory is its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = SwarmFolder(Path(name))
        folder.create()
        child = [sys.executable, __file__, "--prepare", name, str(tasks), str(events)]
        subprocess.run(child, check=True)
        started = time.perf_counter()
        ledger = Ledger.write(folder)
        cold = time.perf_counter() - started
        ledger.project()
        changes = []
        open_task = f"1.{tasks}"
        for number in range(1, 11):
            event: Event = (
                TaskBlocked(task=open_task, stage="architect", reason="no delegation")
                if number % 2
                else TaskRetried(task=open_task)
            )
            started = time.perf_counter()
            ledger.append([event], expect=ledger.state.seq)
            changes.append(time.perf_counter() - started)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = folder.ledger.stat().st_size / 1e6
        ledger.close()
        seq = ledger.state.seq
    change = statistics.median(changes)
    print(
        f"{tasks:>7,}{seq:>10,}{size:>8.0f} MB{cold:>9.2f} s{cold / seq * 1e6:>9.1f} us"
        f"{change * 1000:>10.1f} ms{peak:>9.0f} MB",
        flush=True,
    )


def main() -> None:
    match sys.argv[1:]:
        case ["--prepare", name, tasks, events]:
            deep_ledger(SwarmFolder(Path(name)), tasks=int(tasks), done=int(tasks) - 1, events=int(events))
        case ["--row", tasks, events]:
            measure(int(tasks), int(events))
        case _:
            print(
                f"{'tasks':>7}{'events':>10}{'ledger':>11}{'cold fold':>11}{'per event':>12}{'change':>13}{'peak':>12}"
            )
            for tasks_, events_ in SIZES:
                subprocess.run([sys.executable, __file__, "--row", str(tasks_), str(events_)], check=True)
            print("targets at the last row: 3 s, 50 ms, 300 MB")


if __name__ == "__main__":
    main()
