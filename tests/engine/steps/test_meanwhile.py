"""What the user does with git while a run is at work: each commit stays where it is, and is named."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from tests.project import Project, call, code, part, plan, rule

from swarmgate.domain.events import event as ev
from swarmgate.domain.next_step import Waiting
from swarmgate.domain.progress import Progress
from swarmgate.domain.state.state import Outcome
from swarmgate.engine import Swarm
from swarmgate.engine.reports.outcome import RunOutcome
from swarmgate.errors import CommitLost, WorkspaceError

pytestmark = pytest.mark.suite("unittest")

PART = "src/calc/part_1.1.py"
MINE = "The user's own\n"


def run_while(project: Project, step: str, act: Callable[[], object], *, nth: int = 1) -> RunOutcome:
    """A run in which somebody does something at the beginning of the nth such step."""
    seen: list[str] = []

    def listen(progress: Progress) -> None:
        if (progress.kind, progress.step) == ("step", step):
            seen.append(step)
            if len(seen) == nth:
                act()

    try:
        return asyncio.run(Swarm(project.root, listener=listen).run())
    finally:
        assert len(seen) >= nth, f"no step {step}"


def commits(project: Project, *options: str, path: str = "README.md", text: str = MINE) -> Callable[[], str]:
    """What commits one file as a user would, and says which commit that made."""

    def act() -> str:
        project.write(path, text)
        project.git("add", path)
        project.git("commit", "--quiet", "--message=By the user", *options, "--", path)
        return project.git("rev-parse", "HEAD")

    return act


def stands(project: Project, commit: str) -> bool:
    return commit in project.git("rev-list", "HEAD").split()


def whole(project: Project, *tasks: str) -> None:
    """The tasks are complete, nothing is left over, and everything fits."""
    assert [event.task for event in project.events(ev.TaskCompleted)] == list(tasks)
    assert project.git("status", "--porcelain", "--", ".", ":!.swarm") == ""
    for task in tasks:
        assert project.git("show", f"HEAD:src/calc/part_{task}.py") == part(task).strip()
    assert project.json("verify")["passed"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    [
        "delegate",
        "commit",
        "review",
        "run_tests",
        "code",
        "gates",
        "test",
        "close_phase",
    ],
)
def test_a_commit_of_the_user_stays_whatever_step_it_comes_in(project: Project, step: str) -> None:
    made: list[str] = []
    project.planned()
    commit = commits(project)
    outcome = run_while(project, step, lambda: made.append(commit()))
    assert outcome.waiting is Waiting.PHASE_APPROVAL
    assert stands(project, made[0])
    assert project.git("show", "HEAD:README.md") == MINE.strip()
    assert not project.events(ev.AttemptRejected)
    interrupted = project.events(ev.AttemptInterrupted)
    assert len(interrupted) == (0 if step in ("delegate", "close_phase") else 1)
    assert all(made[0][:7] in each.reason and "By the user" in each.reason for each in interrupted)
    assert project.git("for-each-ref", "refs/swarm/set-aside") == ""
    whole(project, "1.1")


@pytest.mark.slow
def test_a_commit_in_the_middle_of_the_coders_turn(project: Project) -> None:
    """The coder has written half of its files, and what the user edits next to it is the user's."""
    commit = commits(project)

    class Requests(list):  # type: ignore[type-arg]  # what the server appends to
        def append(self, request: object) -> None:
            super().append(request)
            if len(project.briefs("coder", "code")) == 1 and len(self) == 5:
                commit()

    project.requests = Requests()
    half = [call("write_file", path=PART, content=part("half"))]
    project.planned(rule("coder", "code", half, [call("finish", summary="x")], attempt="1"))
    assert len(project.requests) == 2
    project.swarm("run", exits=3)
    assert project.git("log", "--format=%s", "main..HEAD").splitlines() == ["Part 1.1", "By the user"]
    first, second = project.state.task("1.1").attempts
    assert (first.outcome, second.outcome) == (Outcome.INTERRUPTED, Outcome.COMPLETE)
    whole(project, "1.1")


@pytest.mark.slow
def test_the_user_commits_files_of_the_task_itself(project: Project) -> None:
    """What is in the user's commit is no part of the change any more, and the record says so."""
    project.planned(code({PART: part("1.1"), "src/calc/more.py": part("m")}, attempt="1"))
    outcome = run_while(project, "review", commits(project, path=PART, text=part("1.1")))
    assert outcome.waiting is Waiting.PHASE_APPROVAL
    (interrupted,) = project.events(ev.AttemptInterrupted)
    assert f"files of the task are in it: {PART}" in interrupted.reason
    assert project.git("show", "--name-only", "--format=", "HEAD") == "src/calc/more.py"
    whole(project, "1.1")


@pytest.mark.slow
@pytest.mark.parametrize("step", ["commit", "code"])
def test_the_message_of_a_completed_task_is_amended(project: Project, step: str) -> None:
    project.planned(plan("1.1", "1.2"))

    def amend() -> None:
        project.git("commit", "--quiet", "--amend", "--message=Reworded")

    run_while(project, step, amend, nth=2)
    (done, _) = project.events(ev.TaskCompleted)
    (moved,) = project.events(ev.CommitMoved)
    assert (moved.task, moved.was) == ("1.1", done.commit)
    assert project.git("log", "-1", "--format=%s", moved.commit) == "Reworded"
    assert project.state.task("1.1").commit == moved.commit
    assert "the branch was moved from" in project.events(ev.AttemptInterrupted)[0].reason
    assert project.state.task("1.2").status == "complete"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "where"),
    [
        ("code", "--detach"),
        ("commit", "main"),
        ("delegate", "main"),
        ("review", "--detach"),
        ("run_tests", "main"),
    ],
)
def test_another_branch_is_checked_out_meanwhile(project: Project, step: str, where: str) -> None:
    project.planned()
    with pytest.raises(WorkspaceError, match=r"The work is on branch swarm/parts, and (main|no branch) is") as caught:
        run_while(project, step, lambda: project.git("switch", "--quiet", where))
    assert caught.value.hint.startswith("git switch swarm/parts")
    assert project.git("rev-parse", "main") == project.git("rev-parse", "HEAD") == project.git("rev-parse", "HEAD@{1}")
    project.git("switch", "--quiet", "swarm/parts")
    project.swarm("run", exits=3)
    assert len(project.state.task("1.1").attempts) == 1
    whole(project, "1.1")


@pytest.mark.slow
@pytest.mark.parametrize("step", ["run_tests", "review"])
def test_the_user_stashes_the_files_of_an_attempt(project: Project, step: str) -> None:
    project.planned()
    aside = ("stash", "push", "--quiet", "--include-untracked", "--", "src")
    run_while(project, step, lambda: project.git(*aside))
    assert PART in project.git("show", "--name-only", "--format=", "stash@{0}^3")
    whole(project, "1.1")


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    [
        "commit",
        "test",
        "gates",
        "review",
        "run_tests",
    ],
)
def test_what_the_user_edits_meanwhile_is_not_lost(project: Project, step: str) -> None:
    project.planned()
    run_while(project, step, lambda: project.write("AGENTS.md", "HOUSE-RULE: mine.\n"))
    places = [project.root / "AGENTS.md", *project.quarantined("AGENTS.md")]
    assert "HOUSE-RULE: mine.\n" in [place.read_text() for place in places]


@pytest.mark.slow
def test_what_the_user_staged_stays_staged_when_a_commit_is_set_aside(project: Project) -> None:
    project.hook("pre-commit", f"grep -q safe {PART} || {{ echo 'def x(:' > {PART} && git add {PART}; }}")
    project.planned(code({PART: part("safe")}, attempt="2"))

    def stage() -> None:
        project.write("AGENTS.md", "staged\n")
        project.git("add", "AGENTS.md")
        project.git("show", "HEAD:AGENTS.md")
        project.write("AGENTS.md", "HOUSE-RULE: names in English.\n")

    run_while(project, "commit", stage)
    assert project.git("show", ":AGENTS.md") == "staged"
    (rejected,) = project.events(ev.AttemptRejected)
    kept = project.git("for-each-ref", "--format=%(refname)", "refs/swarm/set-aside")
    assert kept in rejected.reason
    assert "def x(:" in project.git("show", f"{kept}:{PART}")


# --- at the very moment of the commit ---


@pytest.mark.slow
def test_the_user_commits_while_the_hooks_of_our_commit_run(project: Project) -> None:
    """Git itself refuses the second of the two: that is no refusal by a hook."""
    theirs = "(unset GIT_INDEX_FILE; git -c core.hooksPath=/dev/null commit --quiet --allow-empty -m 'By the user')"
    project.hook("pre-commit", f"test -e .git/once || {{ touch .git/once; {theirs}; }}")
    project.planned()
    project.swarm("run", exits=3)
    assert not project.events(ev.AttemptRejected)
    assert "By the user" in project.events(ev.AttemptInterrupted)[0].reason
    assert project.git("log", "--format=%s", "main..HEAD").splitlines() == ["Part 1.1", "By the user"]
    whole(project, "1.1")


def git_on_path(project: Project, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program `git` before the real one; `$REAL` is that."""
    import os
    import shutil

    folder = project.root.parent / "bin"
    folder.mkdir()
    real = shutil.which("git")
    (folder / "git").write_text(f'#!/bin/sh\nREAL={real}\n{script}\nexec "$REAL" "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.mark.slow
def test_the_user_commits_between_the_last_look_and_our_commit(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our commit is then made on theirs without knowing its files: it is set aside, not theirs."""
    mark = project.root.parent / "once"
    project.planned()
    theirs = (
        f"echo mine > {project.root}/README.md; "
        "GIT_INDEX_FILE= ; unset GIT_INDEX_FILE; $REAL add README.md; $REAL commit -q -m 'By the user' -- README.md"
    )
    git_on_path(
        project,
        monkeypatch,
        f'case " $* " in *" commit "*) test -e {mark} || {{ touch {mark}; ({theirs}); }};; esac',
    )
    project.swarm("run", exits=3)
    assert mark.exists()
    assert project.git("show", "HEAD:README.md") == "mine"
    assert project.git("log", "--format=%s", "main..HEAD").splitlines() == ["Part 1.1", "By the user"]
    kept = project.git("for-each-ref", "--format=%(refname)", "refs/swarm/set-aside")
    assert project.git("log", "-1", "--format=%s", kept) == "Part 1.1"
    assert kept in project.events(ev.AttemptInterrupted)[0].reason
    assert [each.outcome for each in project.state.task("1.1").attempts] == ["INTERRUPTED", "COMPLETE"]
    whole(project, "1.1")


@pytest.mark.slow
def test_a_hook_that_commits_on_top_of_ours_is_named_and_both_stay(project: Project) -> None:
    again = "git -c core.hooksPath=/dev/null commit --quiet --allow-empty -m 'Bump'"
    project.hook("post-commit", f"test -e .git/once || {{ touch .git/once; {again}; }}")
    project.planned()
    assert "Bump" in project.swarm("run", exits=3).stderr
    assert project.git("log", "--format=%s", "main..HEAD").splitlines() == ["Bump", "Part 1.1"]
    whole(project, "1.1")


# --- between runs ---


@pytest.mark.slow
def test_a_commit_between_a_block_and_an_override_stays(project: Project) -> None:
    project.planned(rule("reviewer", "review", [call("submit_verdict", verdict="REJECTED", summary="no")]))
    project.swarm("run", exits=1)
    made = commits(project)()
    project.swarm("override", "1.1", "--reason", "fine")
    project.swarm("run", exits=3)
    assert stands(project, made)
    assert not project.events(ev.AttemptInterrupted)
    whole(project, "1.1")


@pytest.mark.slow
@pytest.mark.parametrize("verb", [("retry", "1.1"), ("run",)])
def test_a_commit_after_a_run_that_died_is_not_taken_back_in_the_files(project: Project, verb: tuple[str, ...]) -> None:
    project.planned(rule("reviewer", "review", {"fault": {"kind": "500", "retry_after": 0}}))
    project.swarm("run", exits=5)
    made = commits(project)()
    project.play()
    if verb != ("run",):
        project.swarm(*verb)
    project.swarm("run", exits=3)
    assert stands(project, made)
    assert project.git("show", "HEAD:README.md") == MINE.strip()
    whole(project, "1.1")


# --- without a sandbox ---


@pytest.mark.slow
@pytest.mark.parametrize("step", ["code", "gates", "run_tests"])
def test_without_a_sandbox_a_commit_is_set_aside_under_a_name(project: Project, step: str) -> None:
    made: list[str] = []
    project.planned(commands={"sandbox": "none"}, scope={"enforce": "off"})
    commit = commits(project)
    run_while(project, step, lambda: made.append(commit()))
    kept = f"refs/swarm/set-aside/{made[0][:12]}"
    assert project.git("rev-parse", kept) == made[0]
    assert not stands(project, made[0])
    assert any(
        kept in event.note.detail and made[0][:7] in event.note.detail for event in project.events(ev.GuardActed)
    )
    found = [
        place.read_text() for place in (project.root / "README.md", *project.quarantined("README.md")) if place.exists()
    ]
    assert MINE in found


# --- completed work that goes ---


@pytest.mark.slow
@pytest.mark.parametrize("step", ["code", "delegate", "commit"])
def test_a_reset_that_loses_a_completed_task_pauses_the_run(project: Project, step: str) -> None:
    project.planned(plan("1.1", "1.2"))
    with pytest.raises(CommitLost, match=r"Completed work is not in branch swarm/parts any more: task 1\.1") as caught:
        run_while(project, step, lambda: project.git("reset", "--quiet", "--hard", "HEAD~1"), nth=2)
    lost = project.state.task("1.1").commit
    assert f"git merge --ff-only {lost[:12]}" in caught.value.hint
    assert "Completed work" in project.swarm("run", exits=2).stderr  # nothing goes on
    project.git("stash", "push", "--quiet", "--include-untracked", "--", "src")
    project.git("merge", "--quiet", "--ff-only", lost)
    project.swarm("run", exits=3)
    assert project.events(ev.PhaseClosed)
    whole(project, "1.1", "1.2")


def done(project: Project, *more: str) -> str:
    """A phase of two completed tasks that waits for its approval; the commit of the first."""
    project.planned(plan("1.1", "1.2", *more))
    project.swarm("run", exits=3)
    return project.state.task("1.1").commit


@pytest.mark.slow
def test_a_phase_whose_work_is_gone_is_neither_approved_nor_gone_on_from(project: Project) -> None:
    first = done(project)
    project.git("reset", "--quiet", "--hard", "HEAD~2")
    told = project.swarm("approve", exits=2).stderr
    assert f"task 1.1 ({first[:12]}), task 1.2 ({project.state.task('1.2').commit[:12]})" in told
    assert not project.events(ev.PhaseApproved)
    project.git("reset", "--quiet", "--hard", "ORIG_HEAD")
    project.swarm("approve")
    assert len(project.events(ev.PhaseApproved)) == 1
    assert not project.events(ev.CommitMoved)


@pytest.mark.slow
def test_work_that_is_gone_is_done_again_when_the_user_meant_it(project: Project) -> None:
    done(project)
    project.git("reset", "--quiet", "--hard", "HEAD~1")
    project.swarm("retry", "1.2")
    assert project.state.phase(1).closed is False
    assert "[ ] Task 1.2" in project.plan_md
    project.swarm("run", exits=3)
    assert [each.outcome for each in project.state.task("1.2").attempts] == ["COMPLETE", "COMPLETE"]
    assert project.git("show", "HEAD:src/calc/part_1.2.py") == part("1.2").strip()
    project.swarm("approve")


@pytest.mark.slow
def test_work_that_is_gone_is_given_up(project: Project) -> None:
    done(project)
    project.git("reset", "--quiet", "--hard", "HEAD~1")
    project.swarm("skip", "1.2", "--reason", "not wanted")
    assert project.state.task("1.2").status == "skipped"
    project.swarm("run", exits=3)  # the summary told of it
    project.swarm("approve")


@pytest.mark.slow
def test_work_that_was_rewritten_beyond_recognition_is_vouched_for(project: Project) -> None:
    first = done(project)
    project.git("reset", "--quiet", "--soft", "HEAD~2")
    project.write("src/calc/part_1.2.py", part("another"))
    project.git("commit", "--quiet", "--all", "--message=All of it")
    assert "swarm override 1.1" in project.swarm("approve", exits=2).stderr
    for task in ("1.1", "1.2"):
        project.swarm("override", task, "--reason", "squashed by hand")
    moved = project.events(ev.CommitMoved)
    assert [(each.task, each.commit, each.reason) for each in moved] == [
        ("1.1", project.git("rev-parse", "HEAD"), "squashed by hand"),
        ("1.2", project.git("rev-parse", "HEAD"), "squashed by hand"),
    ]
    assert moved[0].was == first
    project.swarm("approve")


@pytest.mark.slow
def test_in_an_approved_phase_nothing_is_opened_again(project: Project) -> None:
    done(project, "2.1")
    project.swarm("approve")
    project.git("reset", "--quiet", "--hard", "HEAD~1")
    assert "task 1.2" in project.swarm("run", exits=2).stderr
    assert "Phase 1 is approved" in project.swarm("retry", "1.2", exits=2).stderr
    project.swarm("override", "1.2", "--reason", "dropped on purpose")
    project.swarm("run", exits=3)


def squash(project: Project) -> None:
    project.git("reset", "--quiet", "--soft", "HEAD~2")
    project.git("commit", "--quiet", "--message=Both")


def rebase(project: Project) -> None:
    project.git("switch", "--quiet", "main")
    project.write("README.md", MINE)
    project.git("add", "README.md")
    project.git("commit", "--quiet", "--message=On main")
    project.git("switch", "--quiet", "swarm/parts")
    project.git("rebase", "--quiet", "main")


def reword(project: Project) -> None:
    project.git("commit", "--quiet", "--amend", "--message=Other words", "--reset-author", "--date=2020-01-01T00:00:00")


def cherry_pick(project: Project) -> None:
    first, second = project.git("rev-list", "--reverse", "main..HEAD").split()
    project.git("reset", "--quiet", "--hard", "main")
    for commit in (second, first):
        project.git("cherry-pick", commit)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rewrite", "moved"),
    [
        (squash, 2),
        (rebase, 2),
        (reword, 1),
        (cherry_pick, 2),
    ],
)
def test_history_that_was_rewritten_holds_the_work_and_that_goes_on_record(
    project: Project, rewrite: Callable[[Project], None], moved: int
) -> None:
    done(project)
    rewrite(project)
    project.swarm("approve")
    events = project.events(ev.CommitMoved)
    assert len(events) == moved
    for task in ("1.1", "1.2"):
        assert stands(project, project.state.task(task).commit)
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_history_with_another_content_under_the_same_message_is_not_taken_for_the_work(project: Project) -> None:
    """White space counts: the same trailers and the same author say nothing of what is in a commit."""
    done(project)
    project.write("src/calc/part_1.2.py", part("1.2") + "\n")
    project.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    assert "task 1.2" in project.swarm("approve", exits=2).stderr


@pytest.mark.slow
def test_a_shallow_clone_says_so(project: Project) -> None:
    done(project)
    (project.root / ".git/shallow").write_text(project.git("rev-parse", "HEAD") + "\n")
    assert "git fetch --unshallow" in project.swarm("approve", exits=2).stderr


@pytest.mark.slow
def test_a_deleted_branch_is_made_again_at_the_newest_work(project: Project) -> None:
    done(project, "2.1")
    project.swarm("approve")
    newest = project.state.task("1.2").commit
    project.git("switch", "--quiet", "main")
    project.git("branch", "--quiet", "-D", "swarm/parts")
    assert f"git switch -c swarm/parts {newest[:12]}" in project.swarm("run", exits=2).stderr
    project.git("switch", "--quiet", "--create", "swarm/parts", newest)
    project.swarm("run", exits=3)
