"""What is recorded of a goal is on the remote at once, by whoever holds its lease, and by nobody else."""

from __future__ import annotations

import multiprocessing
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.remote import Remote, plain_events
from tests.project import GOAL, Project, plan

from swarmgate.domain.evidence.attestation import NOTES_REF
from swarmgate.domain.progress import Progress
from swarmgate.domain.usage import Usage
from swarmgate.engine.swarm import Swarm
from swarmgate.errors import LeaseLost, NewerGoal, RemoteAway
from swarmgate.fleet.goals import lease
from swarmgate.fleet.goals.checkout import checked_out
from swarmgate.fleet.goals.goal import Goal, Standing, Summary
from swarmgate.fleet.goals.publication import GoalPublication
from swarmgate.fleet.work.advance import Outcome, Work
from swarmgate.ledger.audit.attestations import verify
from swarmgate.ledger.ledger import Ledger
from swarmgate.workspace.git import growing_log
from swarmgate.workspace.git.driver import Driver
from swarmgate.workspace.git.repository import Repository

pytestmark = pytest.mark.suite("unittest")


@pytest.fixture
def planned(project: Project, remote: Remote) -> Goal:
    """A goal of one task whose plan is approved."""
    project.play(plan("1.1"))
    goal = remote.submit()
    assert remote.advance(goal).standing is Standing.WAITING
    remote.approve(goal)
    return goal


def held_at(step: str) -> tuple[Callable[[Progress], None], threading.Event, threading.Event]:
    """A listener that stands still before a step, as a stopped process does; it has come there, and may go on."""
    there, on = threading.Event(), threading.Event()

    def listener(progress: Progress) -> None:
        if progress.kind == "step" and progress.step == step and not there.is_set():
            there.set()
            assert on.wait(60)

    return listener, there, on


def in_thread(work: Work, into: list[Outcome]) -> threading.Thread:
    thread = threading.Thread(target=lambda: into.append(work.run()))
    thread.start()
    return thread


@pytest.mark.slow
def test_a_goal_waits_for_a_person_only_when_its_worker_adds_nothing_more(project: Project, remote: Remote) -> None:
    project.play(plan("1.1"))
    goal = remote.submit()
    remote.advance(goal)
    standings = remote.git("log", "--format=%(trailers:key=Swarm-Standing,valueonly,separator=)", goal.ref).split()
    assert (standings[0], set(standings[1:])) == ("waiting", {"due"})
    with checked_out(remote.site, goal) as found:
        assert Ledger.read(found.folder).state.reserved == Usage()


@pytest.mark.slow
def test_machines_that_take_turns_do_what_one_process_does(project: Project, remote: Remote, planned: Goal) -> None:
    machines = [remote.machine(name) for name in ("east", "west")]
    for turn in range(60):
        outcome = remote.advance(planned, f"w{turn % 2}", site=machines[turn % 2], steps=2)
        if outcome.standing is not Standing.DUE:
            break
    assert outcome.standing is Standing.WAITING
    remote.approve(planned)
    assert remote.advance(planned).standing is Standing.DONE
    assert remote.completing(planned) == ["1.1"]

    project.swarm("plan", GOAL, exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    project.swarm("approve")
    assert plain_events(remote.lines(planned), pauses=False) == plain_events(project.lines(), pauses=False)


@pytest.mark.slow
def test_evidence_of_one_machine_proves_on_another(remote: Remote, planned: Goal) -> None:
    remote.advance(planned, steps=6)
    remote.advance(planned, site=remote.machine("other"))
    with checked_out(remote.machine("third"), planned) as found:
        checks = Swarm(found.root).verify()
        assert [problem for check in checks for problem in check.problems] == []
        assert (found.folder.evidence / "1.1" / "attempt-1" / "change.patch").is_file()


@pytest.mark.slow
def test_a_worker_that_stood_still_while_another_went_on_publishes_nothing(remote: Remote, planned: Goal) -> None:
    listener, there, on = held_at("commit")
    outcomes: list[Outcome] = []
    stopped = in_thread(remote.work(planned, "stopped", listener=listener), outcomes)
    assert there.wait(60)
    assert remote.advance(planned, "second", site=remote.machine("other")).standing is Standing.WAITING
    truth = remote.git("for-each-ref")
    on.set()
    stopped.join(60)
    assert outcomes[0].lost
    assert remote.git("for-each-ref") == truth
    assert remote.completing(planned) == ["1.1"]
    kept = Driver(remote.site.cache.path).run("for-each-ref", "--format=%(refname)", lease.QUARANTINE).decode().split()
    assert {name.rpartition("/")[2] for name in kept} == {"ledger", "branch", "files"}
    assert all(outcomes[0].kept in name for name in kept)


def _claim(work: Work, gate: Any, results: Any) -> None:
    gate.wait()
    try:
        with checked_out(work.site, work.goal) as found:
            publication = GoalPublication(found)
            with Ledger.write(found.folder, publication=publication) as ledger:
                gate.wait()  # both have read the same tip
                results.put((work.worker, lease.take(ledger, work.worker)))
    except LeaseLost:
        results.put((work.worker, 0))


@pytest.mark.slow
def test_of_two_processes_that_take_a_goal_at_once_one_has_it(remote: Remote, planned: Goal) -> None:
    context = multiprocessing.get_context("fork")
    gate, results = context.Barrier(2), context.Queue()
    works = [remote.work(planned, name, site=remote.machine(name)) for name in ("a", "b")]
    processes = [context.Process(target=_claim, args=(work, gate, results)) for work in works]
    for process in processes:
        process.start()
    taken = dict(results.get(timeout=60) for _ in processes)
    for process in processes:
        process.join(60)
    assert sorted(taken.values()) == [0, 2]
    with checked_out(remote.site, planned) as found:
        assert taken[Ledger.read(found.folder).state.lease.worker] == 2


@pytest.mark.slow
def test_what_a_dead_worker_had_reserved_counts_as_spent(project: Project, remote: Remote, planned: Goal) -> None:
    with checked_out(remote.site, planned) as found:
        publication = GoalPublication(found)
        with Ledger.write(found.folder, publication=publication) as ledger:
            lease.take(ledger, "dead")
            publication.reserve(ledger, Usage(calls=1, prompt_tokens=1000, completion_tokens=500, usd=0.25), Usage())
            pushes = publication.pushes
            publication.reserve(ledger, Usage(calls=1, prompt_tokens=1000, completion_tokens=500, usd=0.25), Usage())
            assert publication.pushes == pushes  # it covers the next calls
    remote.advance(planned, "second", steps=1)
    with checked_out(remote.site, planned) as found:
        state = Ledger.read(found.folder).state
        assert (state.forfeited.tokens, state.forfeited.usd) == (6000, 1.0)
        assert state.lease.worker == "second"


@pytest.mark.slow
def test_a_budget_that_a_dead_worker_had_reserved_is_not_spent_again(project: Project, remote: Remote) -> None:
    project.configure(budget={"tokens": 10_000})
    goal = remote.submit()
    with checked_out(remote.site, goal) as found:
        publication = GoalPublication(found)
        with Ledger.write(found.folder, publication=publication) as ledger:
            lease.take(ledger, "dead")
            publication.reserve(ledger, Usage(calls=1, prompt_tokens=10_000, completion_tokens=1), Usage())
    outcome = remote.advance(goal)
    assert (outcome.standing, outcome.code) == (Standing.BUDGET, "BUDGET")


@pytest.mark.slow
def test_a_worker_that_slept_looks_before_it_asks_a_model_again(remote: Remote) -> None:
    goal, clock = remote.submit(), [0.0]
    call = Usage(calls=1, prompt_tokens=1, completion_tokens=1)
    with checked_out(remote.site, goal) as found:
        publication = GoalPublication(found, clock=lambda: clock[0])
        with Ledger.write(found.folder, publication=publication) as ledger:
            lease.take(ledger, "sleeper")
            publication.reserve(ledger, call, Usage())
            with checked_out(remote.machine("other"), goal) as other:
                second = GoalPublication(other)
                with Ledger.write(other.folder, publication=second) as theirs:
                    lease.take(theirs, "second")
            publication.reserve(ledger, call, call)  # one call at most, in the time in which nobody thought it dead
            clock[0] = 3600.0
            with pytest.raises(LeaseLost, match="somebody else's"):
                publication.reserve(ledger, call, call)


@pytest.mark.slow
def test_an_answer_of_the_remote_that_was_lost_is_no_failure(remote: Remote) -> None:
    goal = remote.submit()
    hook = remote.path / "hooks" / "post-receive"
    hook.write_text("#!/bin/sh\nkill -9 $PPID\n")
    hook.chmod(0o755)
    with checked_out(remote.site, goal) as found:
        publication = GoalPublication(found, patience_s=5)
        with Ledger.write(found.folder, publication=publication) as ledger:
            assert lease.take(ledger, "w1") == 1
    assert remote.git("rev-parse", goal.ref) == publication.log


FOLLOWED = """#!/bin/sh
while read old new ref; do
  case $ref in refs/swarm/goals/*)
    : > .empty
    blob=$(git hash-object -w .empty)
    tree=$(git ls-tree $new | sed "s/blob .*\tlog$/blob $blob\tlog/" | git mktree)
    git update-ref $ref $(git -c user.name=w -c user.email=w@x commit-tree -p $new -m 'what a worker adds' $tree);;
  esac
done
kill -9 $PPID
"""


@pytest.mark.slow
def test_a_decision_counts_whose_answer_was_lost_while_a_worker_went_on(remote: Remote, project: Project) -> None:
    project.play(plan("1.1"))
    goal = remote.submit()
    assert remote.advance(goal).standing is Standing.WAITING
    hook = remote.path / "hooks" / "post-receive"
    hook.write_text(FOLLOWED)
    hook.chmod(0o755)
    remote.approve(goal)
    hook.unlink()
    assert [line["event"]["type"] for line in remote.lines(goal)].count("plan_approved") == 1
    assert remote.git("log", "-1", "--format=%s", goal.ref) == "what a worker adds"


@pytest.mark.slow
def test_a_remote_that_is_away_for_a_while_is_waited_for(remote: Remote) -> None:
    goal, away = remote.submit(), remote.path.with_name("away")
    with checked_out(remote.site, goal) as found:
        publication = GoalPublication(found, patience_s=30)
        with Ledger.write(found.folder, publication=publication) as ledger:
            remote.path.rename(away)
            threading.Timer(0.3, lambda: away.rename(remote.path)).start()
            lease.take(ledger, "w1")
    assert remote.git("rev-parse", goal.ref) == publication.log


def test_a_remote_that_stays_away_ends_the_work(remote: Remote) -> None:
    goal = remote.submit()
    with checked_out(remote.site, goal) as found:
        publication = GoalPublication(found, patience_s=0)
        with Ledger.write(found.folder, publication=publication) as ledger:
            remote.path.rename(remote.path.with_name("away"))
            with pytest.raises(RemoteAway, match="Nothing could be published"):
                lease.take(ledger, "w1")


@pytest.mark.slow
def test_an_old_worker_leaves_what_a_newer_one_wrote(remote: Remote) -> None:
    goal = remote.submit()
    with checked_out(remote.site, goal) as found:
        publication = GoalPublication(found)
        with Ledger.write(found.folder, publication=publication) as ledger:
            lease.take(ledger, "new", version="9.1.0")
    before = remote.git("rev-parse", goal.ref)
    with pytest.raises(NewerGoal, match=r"swarmgate 9\.1\.0"):
        remote.advance(goal, version="9.0.9")
    assert remote.git("rev-parse", goal.ref) == before


def test_the_newest_commit_says_how_a_goal_stands(remote: Remote) -> None:
    goal = remote.submit("Add parts\n\nmany of them", queue="large", priority=7)
    summary = Summary.read(remote.git("log", "-1", "--format=%B", goal.ref))
    assert summary == Summary(standing=Standing.DUE, queue="large", priority=7, seq=2, title="Add parts")


def test_commits_are_by_who_submitted_the_goal(remote: Remote, project: Project) -> None:
    project.git("config", "user.name", "Grace")
    goal = remote.submit()
    with checked_out(remote.site, goal) as found:
        assert Driver(found.root).run("config", "user.name").decode().strip() == "Grace"


def test_files_beside_a_log_change_and_go_with_it(repo: Path) -> None:
    git = Driver(repo)
    first = growing_log.add(
        repo, "refs/swarm/x", b"1\n", message="a", parent="",
        beside=growing_log.Beside({'a "b"\\c/d': b"x", "gone": b"y"}, {"work": git.trees(["HEAD"])[0]}),
    )  # fmt: skip
    second = growing_log.add(
        repo, "refs/swarm/x", b"2\n", message="b", parent=first, beside=growing_log.Beside({"gone": None}, {"work": ""})
    )
    listed = [git.run("ls-tree", "-r", "-z", "--name-only", each).decode().split("\0")[:-1] for each in (first, second)]
    assert listed[0] == ['a "b"\\c/d', "gone", "log", "work/README.md", "work/src/app.py"]
    assert listed[1] == ['a "b"\\c/d', "log"]


@pytest.mark.slow
def test_statements_about_commits_come_to_the_remote_and_again_where_a_worker_died_before(
    remote: Remote, planned: Goal, tmp_path: Path
) -> None:
    project = remote.project
    project.git("notes", f"--ref={NOTES_REF}", "add", "-m", "of another goal", "main")
    project.git("push", "--quiet", str(remote.path), NOTES_REF)
    assert remote.advance(planned).standing is Standing.WAITING
    clone = tmp_path / "clone"
    remote.git("clone", "--quiet", "--branch", planned.branch, ".", str(clone))

    def verified() -> bool:
        refs = f"+{NOTES_REF}:{NOTES_REF}"
        subprocess.run(["git", "fetch", "--quiet", "origin", refs], cwd=clone, check=True, capture_output=True)
        notes = Repository.discover(clone, lenient=True).notes(NOTES_REF)
        found = verify(Repository.discover(clone, lenient=True), "origin/main..HEAD")
        return found.passed and len(found.commits) == 1 and "of another goal\n" in notes.values()

    assert verified()
    remote.git("update-ref", NOTES_REF, project.git("rev-parse", NOTES_REF))
    assert not verified()
    assert remote.advance(planned, site=remote.machine("another")).standing is Standing.WAITING
    assert verified()
