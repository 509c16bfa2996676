"""Doing things out of order: what the laws of the ledger refuse, and who delegates and commits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import project as play
from tests.domain.story import GREEN, NO, PLAN, RED, YES, delegated, passing, planned, started
from tests.misbehaviour.case import case
from tests.misbehaviour.conftest import Scene, call, run, write
from tests.project import Project

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import Event
from swarmgate.domain.review.finding import GateStatus
from swarmgate.engine.initialise import initialise
from swarmgate.errors import IllegalMove, InvalidTaskStateTransition
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger
from swarmgate.llm.model import ModelReply


class Books:
    """A real ledger; `refuses` insists that an event is refused and leaves no trace."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def record(self, *events: Event) -> None:
        self.ledger.append(events, expect=self.ledger.state.seq)

    def refuses(self, *events: Event, by: type[IllegalMove] = InvalidTaskStateTransition) -> str:
        before = self.ledger.folder.ledger.read_bytes()
        with pytest.raises(by) as caught:
            self.record(*events)
        assert type(caught.value) is by
        assert self.ledger.folder.ledger.read_bytes() == before
        return caught.value.message


@pytest.fixture
def books(repo: Path) -> Iterator[Books]:
    """With an approved plan of four tasks, and a run that has begun."""
    initialise(repo)
    with Ledger.write(SwarmFolder(repo)) as ledger:
        made = Books(ledger)
        made.record(*started())
        yield made


DONE = passing("1.1")[6]
MOVE = "INVALID_TASK_STATE_TRANSITION"


@case("order", "complete a task that was never delegated", "`INVALID_TASK_STATE_TRANSITION`: nothing is written")
def test_completing_what_never_began(books: Books) -> None:
    assert MOVE in books.refuses(DONE)


@case("order", "complete right after the coder's turn", "the same: no gates, no review, no tests")
def test_completing_after_coding(books: Books) -> None:
    books.record(*passing("1.1")[:2])
    assert MOVE in books.refuses(DONE)


@case("order", "complete after the gates, without a review", "the same: the reviewer has not been seen")
def test_completing_without_review(books: Books) -> None:
    books.record(*passing("1.1")[:3])
    assert MOVE in books.refuses(DONE)


@case("order", "complete after the review, without tests", "the same: the test engineer has not been seen")
def test_completing_without_tests(books: Books) -> None:
    books.record(*passing("1.1")[:4])
    assert MOVE in books.refuses(DONE)


@case("order", "complete with tests that were written and never run", "the same: the run is swarmgate's own")
def test_completing_without_a_run(books: Books) -> None:
    books.record(*passing("1.1")[:5])
    assert MOVE in books.refuses(DONE)


@case("order", "review before the gates, test before the review", "forward only, one step at a time")
def test_skipping_ahead(books: Books) -> None:
    books.record(*passing("1.1")[:2])
    assert MOVE in books.refuses(ev.ReviewGiven(task="1.1", attempt=1, review=YES, passed=True))
    assert MOVE in books.refuses(ev.TestsRun(task="1.1", attempt=1, tree="r", run=GREEN, passed=True))


@case("order", "run the gates a second time, once the reviewer has rejected, to begin again", "nothing walks back")
def test_walking_back(books: Books) -> None:
    books.record(*passing("1.1")[:3], ev.ReviewGiven(task="1.1", attempt=1, review=NO, passed=False))
    again = ev.GatesRun(task="1.1", attempt=1, tree="g", passed=True, statuses={"ruff": GateStatus.PASS})
    assert MOVE in books.refuses(again)


@case(
    "order", "go on after a rejection by the reviewer as if it were none", "a rejected review opens no way to the tests"
)
def test_going_on_after_a_rejection(books: Books) -> None:
    books.record(*passing("1.1")[:3], ev.ReviewGiven(task="1.1", attempt=1, review=NO, passed=False))
    assert MOVE in books.refuses(passing("1.1")[4])
    assert MOVE in books.refuses(DONE)


@case("order", "complete after tests that failed", "a red run opens no way to the end")
def test_completing_on_red(books: Books) -> None:
    books.record(*passing("1.1")[:5], ev.TestsRun(task="1.1", attempt=1, tree="r", run=RED, passed=False))
    assert MOVE in books.refuses(DONE)


@case(
    "order",
    "call a failed run passed: `passed` of the event against the counts in it",
    "the law looks at the run itself",
)
def test_red_called_green(books: Books) -> None:
    books.record(*passing("1.1")[:5])
    lie = ev.TestsRun(task="1.1", attempt=1, tree="r", run=RED, passed=True)
    assert "was rejected by tests: it cannot pass" in books.refuses(lie, by=IllegalMove)


@case("order", "complete the same task twice", "a completed task has no attempt that could end")
def test_completing_twice(books: Books) -> None:
    books.record(*passing("1.1"))
    assert MOVE in books.refuses(DONE)


@case("order", "complete another task than the one that is worked on", "one task at a time; the other has no attempt")
def test_completing_another(books: Books) -> None:
    books.record(*passing("1.1")[:6])
    assert MOVE in books.refuses(passing("1.3")[6])


@case("order", "delegate before the user approved the plan", "refused: the user has not approved the plan")
def test_delegating_unapproved(repo: Path) -> None:
    initialise(repo)
    with Ledger.write(SwarmFolder(repo)) as ledger:
        books = Books(ledger)
        books.record(*planned())
        assert "approved" in books.refuses(delegated("1.1"), by=IllegalMove)


@case("order", "delegate a task before those that it depends on", "refused, with the reason")
def test_delegating_too_early(books: Books) -> None:
    assert "1.1" in books.refuses(delegated("1.2"), by=IllegalMove)
    assert "phase 1 is the current one" in books.refuses(delegated("2.1"), by=IllegalMove)


@case("order", "delegate a second task while one is worked on", "refused: one attempt at a time")
def test_delegating_two(books: Books) -> None:
    books.record(delegated("1.1"))
    assert "task 1.1 is open" in books.refuses(delegated("1.3"), by=IllegalMove)


@case("order", "close a phase, and approve it, while tasks are open", "refused, and nothing is written")
def test_closing_early(books: Books) -> None:
    books.record(*passing("1.1"))
    assert "Phase 1 cannot be closed" in books.refuses(ev.PhaseClosed(phase=1, summary="Done."), by=IllegalMove)
    assert "does not wait for approval" in books.refuses(ev.PhaseApproved(phase=1), by=IllegalMove)


@case(
    "order",
    "skip the reviewer by an override, then the test engineer on the next task",
    "counted; reset only by one task with both",
)
def test_skipping_qa(books: Books) -> None:
    books.record(
        *passing("1.1")[:3],
        ev.ReviewGiven(task="1.1", attempt=1, review=NO, passed=False),
        ev.AttemptRejected(task="1.1", attempt=1, stage="reviewer", reason="no"),
        *_blocked("1.1"),
        ev.RejectionOverridden(task="1.1", stage="reviewer", reason="I know better"),
    )
    books.record(delegated("1.1", 4, ev.AttemptKind.OVERRIDE), *_with_review(passing("1.1", 4)[1:], NO))
    assert books.ledger.state.qa_skipped == 1
    books.record(*passing("1.2"))
    assert books.ledger.state.qa_skipped == 0


def _blocked(task: str) -> list[Event]:
    """Two more rejections by the reviewer, and the block."""
    found: list[Event] = []
    for number, kind in ((2, ev.AttemptKind.CODER), (3, ev.AttemptKind.ESCALATED)):
        found += passing(task, number, kind)[:3]
        found.append(ev.ReviewGiven(task=task, attempt=number, review=NO, passed=False))
        found.append(ev.AttemptRejected(task=task, attempt=number, stage="reviewer", reason="no"))
    return [*found, ev.TaskBlocked(task=task, stage="reviewer", reason="no")]


def _with_review(events: list[Event], given: object) -> list[Event]:
    return [each.model_copy(update={"review": given}) if isinstance(each, ev.ReviewGiven) else each for each in events]


# --- delegating ---


@case("order", "the architect speaks of two tasks in one delegation", "refused: one delegation is one task")
async def test_two_tasks_in_words(scene: Scene) -> None:
    both = call("delegate", instructions="Do task 1.2, and then 1.3 as well.")
    (told,) = await scene.delegating(both)
    assert "The instructions name 1.3, the id of another open task" in told


@case(
    "order",
    "the architect hands over a file of another task in the instructions",
    "refused, with the task that it belongs to",
)
async def test_file_of_another(scene: Scene) -> None:
    (told,) = await scene.delegating(call("delegate", instructions="Also mend docs/guide.md."))
    assert "docs/guide.md, which is a file of task 1.3" in told


@case("order", "two calls of `delegate` in one reply", "none of the reply is carried out, and the architect is told")
async def test_two_delegations(scene: Scene) -> None:
    calls = (call("delegate", instructions="Do it."), call("delegate", instructions="And this."), write("x.py"))
    heard = await scene.delegating(ModelReply(tool_calls=calls))
    assert all("Not carried out: delegate and delegate in one reply" in told for told in heard)
    assert len(heard) == 3
    assert not (scene.root / "x.py").exists()


@case(
    "order",
    "the coder saves a plan, delegates, gives a verdict, closes the phase",
    "these tools are not offered to it: on record",
)
async def test_other_roles_tools(scene: Scene) -> None:
    heard = await scene.coder(
        call("save_plan", title="Mine", phases=[]),
        call("delegate", instructions="x"),
        call("list_files"),
        call("submit_verdict", verdict="APPROVED", summary="I approve of me"),
        call("close_phase", summary="x", decisions=[], lessons=[]),
    )
    assert [("not offered" in told) for told in heard] == [True, True, False, True, True]
    assert len(scene.noted("authority")) == 4


# --- committing ---


@case(
    "order",
    "the coder commits: `git commit`, `git add`, `git tag`, a branch of its own",
    "the policy: swarmgate commits",
)
async def test_commits(scene: Scene, git: Callable[..., str]) -> None:
    head = git(scene.root, "rev-parse", "HEAD")
    assert "git-history" in await scene.refused_by("git add -A && git commit -m mine")
    assert "git-history" in await scene.refused_by("git tag v1")
    assert "git-discard" in await scene.refused_by("git checkout -b mine")
    assert git(scene.root, "rev-parse", "HEAD") == head
    assert git(scene.root, "branch", "--format=%(refname:short)") == "main"


@case(
    "order",
    "the same from inside of a program, so that no policy reads it",
    "the sandbox: git's folder cannot be written",
)
async def test_hidden_commits(scene: Scene, git: Callable[..., str], changed: Callable[[], list[str]]) -> None:
    sly = "import subprocess as s; s.run(['tig'[::-1], 'commit', '--allow-empty', '-m', 'mine'], check=True)"
    (told,) = await scene.coder(run(f'{sys.executable} -c "{sly}"'))
    assert told.startswith("Exit code 1")
    assert git(scene.root, "rev-list", "--count", "HEAD") == "1"
    assert changed() == []


SLY = """import subprocess as s; s.run('tig'[::-1] + {line!r}, shell=True, check=True)"""
"""Git from inside of a program, so that no policy reads it."""
UNCONFINED: dict[str, Any] = {"sandbox": "none"}


def second_task_runs(project: Project, line: str) -> str:
    """A run of two tasks without a sandbox, in whose second the coder runs git; what the user was told."""
    project.write("sly.py", SLY.format(line=line))
    project.git("add", "sly.py")
    project.git("commit", "--quiet", "--message=A program")
    wrote = play.call("write_file", path="src/calc/part_1.2.py", content=play.part("1.2"))
    ran = play.call("run_command", command=f"{sys.executable} sly.py")
    turn = play.rule("coder", "code", [wrote, ran], [play.call("finish", summary="x")], task="1.2", attempt="1")
    project.planned(play.plan("1.1", "1.2"), turn, commands=UNCONFINED)
    return project.swarm("run", exits=3).stderr


def set_aside(project: Project) -> str:
    return project.git("for-each-ref", "--format=%(refname)", "refs/swarm/set-aside")


@pytest.mark.slow
@pytest.mark.suite("unittest")
@case(
    "order",
    "without any sandbox, commit the work itself before it is judged",
    "the commit is set aside under a name, on record as `authority`; its files are judged like any other",
)
def test_commits_without_a_sandbox(project: Project) -> None:
    told = second_task_runs(project, " add src && git commit -q -m mine")
    assert project.git("log", "--format=%s", "main..HEAD").splitlines() == ["Part 1.2", "Part 1.1"]
    assert set_aside(project) in told
    notes = [event.note for event in project.events(ev.GuardActed) if event.note.rule == "authority"]
    assert any(set_aside(project) in note.detail for note in notes)


@pytest.mark.slow
@pytest.mark.suite("unittest")
@case(
    "order",
    "without any sandbox, reset the branch so that the commit of a completed task is gone",
    "the branch goes back to where the attempt began, and both positions have a name",
)
def test_resets_without_a_sandbox(project: Project) -> None:
    second_task_runs(project, " reset -q --soft HEAD~1")
    assert project.git("log", "--format=%s", "main..HEAD").splitlines() == ["Part 1.2", "Part 1.1"]
    assert project.git("rev-parse", set_aside(project)) == project.git("rev-parse", "main")


@pytest.mark.slow
@pytest.mark.suite("unittest")
@case(
    "order",
    "without any sandbox, put other content into the commit of a completed task, message and author kept",
    "the commit that was proven is the branch again; the other one is set aside under a name",
)
def test_amends_without_a_sandbox(project: Project) -> None:
    second_task_runs(project, " add src && git commit -q --amend --no-edit")
    done = project.events(ev.TaskCompleted)[0]
    assert project.git("rev-parse", "HEAD~1") == done.commit
    assert project.git("log", "-1", "--format=%s", set_aside(project)) == "Part 1.1"


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_a_completed_task_that_is_gone_is_said_to_be_and_not_approved(project: Project) -> None:
    project.planned()
    project.swarm("run", exits=3)
    project.git("reset", "--quiet", "--hard", "HEAD~1")
    assert "Completed work is not in branch" in project.swarm("approve", exits=2).stderr


def test_the_story_can_end_well(books: Books) -> None:
    """In order, everything is legal: else none of the refusals would show anything."""
    for task in PLAN.phases[0].tasks:
        books.record(*passing(task.id))
    books.record(ev.PhaseClosed(phase=1, summary="Done."), ev.PhaseApproved(phase=1))
    assert books.ledger.state.qa_skipped == 0
