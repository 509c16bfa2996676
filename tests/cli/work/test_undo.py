"""`swarm undo`: a task's commit is taken back by another one, and the task is open again with its attempts."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from tests.project import Project, call, code, part, plan, rule, task, until, verdict

from swarmgate.domain.events.event import TaskUndone
from swarmgate.domain.state.state import Outcome, TaskStatus
from swarmgate.errors import DirtyTree

pytestmark = [pytest.mark.suite("unittest"), pytest.mark.slow]

Once = Callable[[str, Callable[[], None]], None]


@pytest.fixture
def done(project: Project, once: Once) -> Project:
    """Tasks 1.1, 1.2 (on it) and 1.3 are complete, each with a file of its own; 1.3 also wrote into that of 1.1."""

    def make() -> None:
        both = {"src/calc/part_1.3.py": part("1.3"), "src/calc/part_1.1.py": part("other")}
        shared = task("1.3", files=["src/calc/part_1.3.py", "src/calc/part_1.1.py"])
        project.planned(plan("1.1", task("1.2", depends=["1.1"]), shared), code(both, task="1.3"))
        project.swarm("run", exits=3)

    once("three-tasks", make)
    project.play()
    return project


def status(project: Project) -> str:
    return project.git("status", "--porcelain", "--", ".", ":(exclude).swarm")


def undone(project: Project) -> dict[str, Any]:
    return {event.task: event for event in project.events(TaskUndone)}


def test_an_undone_task_is_pending_again_with_its_attempts_and_done_anew(done: Project) -> None:
    commit, head = done.state.task("1.2").commit, done.git("rev-parse", "HEAD")
    told = done.json("undo", "1.2", "--reason", "the value is wrong")
    assert [each["task"] for each in told["undone"]] == ["1.2"]
    assert not (done.root / "src/calc/part_1.2.py").exists()
    assert status(done) == ""
    assert done.git("rev-parse", "HEAD^") == head
    assert done.trailers()["Swarm-Undo"] == f"1.2 {commit}"
    assert done.git("log", "-1", "--format=%an <%ae>") == "Ada Tester <ada@example.test>"
    record = done.state.task("1.2")
    assert (record.status, record.commit) == (TaskStatus.PENDING, "")
    assert [attempt.outcome for attempt in record.attempts] == [Outcome.UNDONE]
    assert "- [ ] Task 1.2" in done.plan_md
    assert "Attempt 1: UNDONE - the value is wrong" in done.plan_md
    assert not done.state.phase(1).closed
    done.swarm("verify")
    done.swarm("run", exits=3)
    assert done.state.task("1.2").attempts[-1].number == 2
    assert (done.root / "src/calc/part_1.2.py").exists()
    assert "It was undone: the value is wrong" in done.briefs("architect", "delegate", task="1.2")[-1]
    done.swarm("verify")


def test_report_and_pull_request_tell_an_undone_task_as_such(done: Project) -> None:
    done.swarm("undo", "1.2", "--reason", "the value is wrong")
    record = done.json("report")["record"]
    assert [(each["task"], each["outcome"]) for each in record["times"]] == [
        ("1.1", "COMPLETE"), ("1.2", "UNDONE"), ("1.3", "COMPLETE"),
    ]  # fmt: skip
    assert {each["id"]: each["note"] for each in record["tasks"]}["1.2"] == "undone: the value is wrong"
    assert ">↶</text>" in done.folder.report.read_text()
    told = done.swarm("pr", "--print").stdout
    assert "## To be done again\n\n- Task 1.2, Part 1.2: undone: the value is wrong\n" in told
    done.swarm("run", exits=3)
    assert "To be done again" not in done.swarm("pr", "--print").stdout


def test_complete_dependents_are_told_and_go_first(done: Project) -> None:
    before = done.git("rev-parse", "HEAD")
    refused = done.json("undo", "1.1", exits=2)
    assert "task 1.2 builds on it" in refused["message"]
    assert "swarm undo 1.1 --with-dependents" in refused["hint"]
    done.swarm("undo", "1.3")
    done.swarm("undo", "1.1", "--with-dependents")
    assert [event.task for event in done.events(TaskUndone)] == ["1.3", "1.2", "1.1"]
    assert done.git("diff", f"{before}~3", "HEAD", "--", ".", ":(exclude).swarm") == ""
    assert done.git("rev-list", "--count", f"{before}..HEAD") == "3"
    done.swarm("verify")


def test_what_was_changed_again_since_is_a_conflict_that_touches_nothing(done: Project) -> None:
    head = done.git("rev-parse", "HEAD")
    refused = done.json("undo", "1.1", "--with-dependents", exits=2)
    assert "`src/calc/part_1.1.py` was changed again since" in refused["message"]
    assert refused["hint"].startswith("Undo first what changed them since: swarm undo 1.3.")
    assert done.git("rev-parse", "HEAD") == head
    assert status(done) == ""
    assert not done.events(TaskUndone)


def test_lines_apart_from_later_ones_are_taken_out_of_a_file_with_crlf(done: Project) -> None:
    lines = "".join(f"line {number}\r\n" for number in range(30))
    place = done.root / "src/calc/part_1.2.py"
    place.write_bytes(place.read_bytes() + lines.encode())
    done.git("commit", "-am", "More of it")
    assert "was changed again since" in done.json("undo", "1.2", exits=2)["message"]
    done.git("revert", "--no-edit", "HEAD")
    done.swarm("undo", "1.2")
    assert not place.exists()


def test_uncommitted_work_is_refused_or_stashed(done: Project) -> None:
    done.write("src/calc/mine.py", "MINE = 1\n")
    refused = done.json("undo", "1.2", exits=DirtyTree.exit_code)
    assert refused["error"] == "DIRTY_TREE"
    assert "swarm undo 1.2 --stash" in refused["hint"]
    assert (done.root / "src/calc/mine.py").exists()
    done.swarm("undo", "1.2", "--stash")
    done.git("stash", "pop")
    assert (done.root / "src/calc/mine.py").read_text() == "MINE = 1\n"
    assert not (done.root / "src/calc/part_1.2.py").exists()


def test_an_ignored_file_where_the_task_had_deleted_one_is_kept(project: Project) -> None:
    project.write("src/calc/old.py", part("old"))
    project.git("add", ".")
    project.git("commit", "-qm", "Old")
    gone = rule(
        "coder",
        "code",
        [
            {"name": "delete_file", "arguments": {"path": "src/calc/old.py"}},
            {"name": "write_file", "arguments": {"path": "src/calc/part_1.1.py", "content": part("1.1")}},
            {"name": "finish", "arguments": {"summary": "done"}},
        ],
    )
    project.planned(plan(task("1.1", files=["src/calc/old.py", "src/calc/part_1.1.py"])), gone)
    project.swarm("run", exits=3)
    project.write(".git/info/exclude", "old.py\n")
    project.write("src/calc/old.py", "PRECIOUS = 1\n")
    project.swarm("undo", "1.1")
    assert (project.root / "src/calc/old.py").read_text() == part("old")
    assert [each.read_text() for each in project.quarantined("old.py")] == ["PRECIOUS = 1\n"]


def test_a_revert_by_hand_is_noticed_everywhere_and_put_on_record(done: Project) -> None:
    commit = done.state.task("1.2").commit
    done.git("revert", "--no-edit", commit)
    revert = done.git("rev-parse", "HEAD")
    status = done.json("status")
    assert f"1.2 ({commit[:12]} by {revert[:12]})" in status["history_problem"]
    assert status["actions"][0].startswith("first bring branch and ledger in step")
    assert "swarm undo 1.2" in done.swarm("status").stdout
    assert "was taken back by" in done.swarm("verify", exits=1).stdout
    assert done.json("approve", exits=2)["error"] == "COMMIT_LOST"
    done.swarm("undo", "1.2")
    event = undone(done)["1.2"]
    assert (event.by_hand, event.revert, event.commit) == (True, revert, commit)
    assert done.git("rev-parse", "HEAD") == revert
    assert done.json("status")["history_problem"] == ""
    done.swarm("verify")


def test_a_revert_with_words_of_its_own_is_noticed_and_one_that_was_reverted_is_none(done: Project) -> None:
    done.git("revert", "--no-commit", done.state.task("1.2").commit)
    done.git("commit", "-qm", "Away with it")
    assert "task 1.2" in done.json("status")["history_problem"]
    done.git("revert", "--no-edit", "HEAD")
    assert done.json("status")["history_problem"] == ""
    done.swarm("verify")


def rebased(project: Project) -> None:
    """The branch stands on a newer main."""
    project.git("switch", "-q", "main")
    project.write("note.txt", "mine\n")
    project.git("add", "note.txt")
    project.git("commit", "-qm", "A note")
    project.git("switch", "-q", "-")
    project.git("rebase", "-q", "main")


@pytest.mark.parametrize(
    "back",
    [("revert", "--no-edit", "HEAD"), ("cherry-pick", "HEAD~2"), ("reset", "-q", "--hard", "HEAD^")],
    ids=["revert-of-the-revert", "cherry-pick", "reset"],
)
def test_what_comes_back_after_an_undo_is_noticed_before_an_attempt_finds_nothing_to_do(
    done: Project, back: tuple[str, ...]
) -> None:
    done.swarm("undo", "1.2")
    done.git(*back)
    commit = done.state.task("1.2").undone
    assert f"task 1.2 is pending, and the branch has the change of its commit {commit[:12]}" in (
        done.swarm("verify").stdout
    )
    assert f"task 1.2 ({commit[:12]})" in done.json("status")["history_problem"]
    refused = done.json("run", exits=2)
    assert "nothing would be left to do" in refused["message"]
    done.git("revert", "--no-edit", commit)
    done.swarm("run", exits=3)
    assert done.state.task("1.2").status is TaskStatus.COMPLETE
    done.swarm("verify")


def test_what_came_back_may_stay_with_its_task_given_up(done: Project) -> None:
    done.swarm("undo", "1.2")
    done.git("revert", "--no-edit", "HEAD")
    done.swarm("skip", "1.2", "--reason", "it stays as it was")
    done.swarm("run", exits=3)
    assert (done.root / "src/calc/part_1.2.py").exists()


@pytest.mark.parametrize("by_hand", [False, True], ids=["undo", "revert"])
def test_a_rebase_after_the_revert_leaves_ledger_and_branch_in_step(done: Project, by_hand: bool) -> None:  # noqa: FBT001 - a case
    if by_hand:
        done.git("revert", "--no-edit", done.state.task("1.2").commit)
    else:
        done.swarm("undo", "1.2")
    rebased(done)
    if by_hand:
        assert "task 1.2" in done.json("status")["history_problem"]
        done.swarm("undo", "1.2")
    done.swarm("run", exits=3)
    assert [attempt.outcome for attempt in done.state.task("1.2").attempts] == [Outcome.UNDONE, Outcome.COMPLETE]
    done.swarm("verify")


def test_a_squash_that_quotes_a_revert_and_holds_the_change_is_none(done: Project) -> None:
    commit = done.state.task("1.2").commit
    done.write("note.txt", "mine\n")
    done.git("add", "note.txt")
    done.git("commit", "-qm", f"A note, there and back\n\nThis reverts commit {commit}.")
    assert done.json("status")["history_problem"] == ""
    done.swarm("verify")


def test_a_squash_that_was_reverted_is_put_on_record_task_by_task(done: Project) -> None:
    done.git("reset", "-q", "--soft", done.state.base)
    done.git("commit", "-qm", "All of it")
    refused = done.json("undo", "1.2", exits=2)
    assert "which is that of task 1.1, 1.3 too" in refused["message"]
    done.git("revert", "--no-edit", "HEAD")
    done.swarm("undo", "1.1", "--with-dependents")
    assert "task 1.3" in done.json("status")["history_problem"]
    done.swarm("undo", "1.3")
    assert {event.by_hand for event in done.events(TaskUndone)} == {True}
    done.swarm("run", exits=3)
    done.swarm("verify")


def test_another_branch_or_none_is_refused(done: Project) -> None:
    done.git("checkout", "-q", "--detach")
    refused = done.json("undo", "1.2", exits=2)
    assert "no branch is checked out" in refused["message"]
    assert refused["hint"].endswith("then: swarm undo 1.2")


def test_a_merge_in_between_is_no_obstacle(done: Project) -> None:
    branch = done.git("branch", "--show-current")
    done.git("switch", "-q", "main")
    done.write("note.txt", "mine\n")
    done.git("add", "note.txt")
    done.git("commit", "-qm", "A note")
    done.git("switch", "-q", branch)
    done.git("merge", "-q", "--no-edit", "main")
    done.swarm("undo", "1.2")
    assert (done.root / "note.txt").exists()
    done.swarm("run", exits=3)
    done.swarm("verify")


def test_interrupted_in_a_hook_the_files_are_as_they_were_and_nobody_else_gets_in(done: Project) -> None:
    head = done.git("rev-parse", "HEAD")
    begun = done.root / ".git/begun"
    done.hook("pre-commit", f"touch {begun}; exec sleep 60")
    process = done.start("undo", "1.2")
    until(begun.exists)
    assert done.json("undo", "1.3", exits=2)["error"] == "LEDGER_LOCKED"
    assert done.json("abandon", "--reason", "no", exits=2)["error"] == "LEDGER_LOCKED"
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert done.git("rev-parse", "HEAD") == head
    assert status(done) == ""
    done.hook("pre-commit", "exit 0")
    done.swarm("undo", "1.2")
    done.swarm("verify")


def test_a_run_does_not_build_on_work_that_was_reverted_by_hand(project: Project) -> None:
    broken = rule("reviewer", "review", [verdict("REJECTED", "no")], task="1.2")
    project.planned(plan("1.1", task("1.2", depends=["1.1"])), broken)
    project.swarm("run", exits=1)
    project.swarm("skip", "1.2", "--reason", "not now")
    project.git("clean", "-fdq", "src", "tests")
    project.git("revert", "--no-edit", project.state.task("1.1").commit)
    assert project.json("run", exits=2)["error"] == "COMMIT_LOST"
    project.swarm("retry", "1.1")
    project.play()
    project.swarm("run", exits=3)
    assert project.state.task("1.1").status is TaskStatus.COMPLETE


def test_an_unfinished_task_goes_to_the_quarantine_with_what_it_builds_on(project: Project) -> None:
    broken = rule("reviewer", "review", [verdict("REJECTED", "no")], task="1.2")
    project.planned(plan("1.1", task("1.2", depends=["1.1"])), broken)
    project.swarm("run", exits=1)
    project.write("notes.txt", "mine\n")
    assert "builds on it" in project.json("undo", "1.1", exits=2)["message"]
    assert project.json("undo", "1.1", "--with-dependents", exits=2)["error"] == "DIRTY_TREE"
    project.swarm("undo", "1.2")
    assert (project.root / "notes.txt").exists()
    assert project.quarantined("part_1.2.py")
    assert project.state.task("1.2").status is TaskStatus.PENDING
    (project.root / "notes.txt").unlink()
    project.swarm("undo", "1.1")
    project.play()
    project.swarm("run", exits=3)
    project.swarm("verify")


def test_what_an_open_attempt_left_is_kept_and_told_as_kept(project: Project) -> None:
    half = [call("write_file", path="src/calc/part_1.2.py", content=part("half"))]
    down = rule("coder", "code", half, {"fault": {"kind": "500", "retry_after": 0}}, task="1.2")
    project.planned(plan("1.1", task("1.2", depends=["1.1"])), down)
    project.swarm("run", exits=5)
    project.write("notes.txt", "mine\n")
    told = project.json("undo", "1.1", "--with-dependents", "--stash")["undone"]
    assert [each["task"] for each in told] == ["1.2", "1.1"]
    assert (project.root / told[0]["kept"] / "src/calc/part_1.2.py").read_text() == part("half")
    assert (project.root / told[0]["kept"] / "notes.txt").read_text() == "mine\n"
    assert status(project) == ""
    assert project.git("stash", "list") == ""
    project.play()
    project.swarm("run", exits=3)
    project.swarm("verify")


def test_a_task_of_an_approved_phase_opens_it_until_a_later_one_has_work(project: Project) -> None:
    project.planned(plan("1.1", "2.1"))
    project.swarm("run", exits=3)
    project.swarm("approve")
    project.swarm("undo", "1.1")
    assert project.state.current_phase == 1
    project.swarm("run", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    refused = project.json("undo", "1.1", exits=2)
    assert "Phase 1 is approved, and task 2.1 of later phases builds on it" in refused["message"]
    project.swarm("undo", "2.1")
    project.swarm("undo", "1.1")
    assert project.state.current_phase == 1
    project.swarm("run", exits=3)
    project.swarm("approve")
    assert project.state.current_phase == 2
    project.swarm("verify")


def test_a_hook_that_refuses_the_revert_leaves_everything_as_it_was(done: Project) -> None:
    head = done.git("rev-parse", "HEAD")
    done.hook("pre-commit", "echo no reverts; exit 1")
    assert done.json("undo", "1.2", exits=2)["error"] == "COMMIT_REFUSED"
    assert done.git("rev-parse", "HEAD") == head
    assert status(done) == ""
    assert not done.events(TaskUndone)


def test_killed_between_files_commit_and_event_the_same_command_goes_on(done: Project) -> None:
    commit = done.state.task("1.2").commit
    done.hook("pre-commit", "kill -9 $PPID $(ps -o ppid= -p $PPID)")
    killed = done.start("undo", "1.2")
    killed.communicate(timeout=60)
    assert killed.returncode == -9
    assert not (done.root / "src/calc/part_1.2.py").exists()
    done.hook("pre-commit", "exit 0")
    done.hook("post-commit", "kill -9 $(ps -o ppid= -p $PPID)")
    killed = done.start("undo", "1.2")
    killed.communicate(timeout=60)
    assert killed.returncode == -9
    assert not done.events(TaskUndone)
    done.hook("post-commit", "exit 0")
    done.swarm("undo", "1.2")
    event = undone(done)["1.2"]
    assert (event.commit, event.revert, event.by_hand) == (commit, done.git("rev-parse", "HEAD"), False)
    assert status(done) == ""
    done.swarm("verify")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["9.9"], "has no task 9.9"),
        (["1.2"], "nothing of it is there"),
    ],
)
def test_what_cannot_be_undone_is_told(project: Project, args: list[str], message: str) -> None:
    project.planned(plan("1.1", "1.2"))
    project.swarm("run", exits=3)
    project.swarm("undo", "1.2")
    assert message in project.json("undo", *args, exits=2)["message"]
