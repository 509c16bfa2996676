"""A rejection at each stage: on record at once, fed back, and the next attempt opens on the same tree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.project import Project, call, code, engineer, implement, part, plain, plan, review, rule, task

from swarmgate.domain.events import event as ev
from swarmgate.domain.guard import Effect
from swarmgate.domain.state.state import Attempt, Outcome, TaskStatus

pytestmark = pytest.mark.suite("unittest")

PART = "src/calc/part_1.1.py"
BAD = '"""A part."""\n\n\ndef value() -> int:\n    """It."""\n    raise NotImplementedError\n'
BROKEN = "def value(:\n"
FAILING = {"tests/test_part.py": "def test_part() -> None:\n    assert 1 == 2\n"}
PROVEN = "from pathlib import Path\n\n\ndef test_part() -> None:\n    assert Path('src/calc/part_1.1.py').is_file()\n"
TALK = {"text": "I would rather talk."}

FIRST_ATTEMPT = {
    "gates: placeholder_scan": [code({PART: BAD}, attempt="1")],
    "gates: syntax_check": [code({PART: BROKEN}, attempt="1")],
    "reviewer": [review("REJECTED", "no unit", "say which unit", attempt="1")],
    "test_engineer": [engineer(word="REJECTED", summary="cannot be tested", attempt="1")],
    "tests": [
        engineer(FAILING, attempt="1"),
        code({PART: part("1.1"), "tests/test_part.py": PROVEN}, attempt="2"),
    ],
    "breaker: idle": [rule("coder", "code", TALK, attempt="1")],
}


def attempts(project: Project) -> tuple[Attempt, ...]:
    return project.state.task("1.1").attempts


@pytest.mark.slow
@pytest.mark.suite("pytest")
@pytest.mark.parametrize("stage", FIRST_ATTEMPT)
def test_a_rejection_opens_the_next_attempt_on_the_same_tree(project: Project, stage: str) -> None:
    project.planned(*FIRST_ATTEMPT[stage])
    project.swarm("run", exits=3)
    first, second = attempts(project)
    assert (first.outcome, second.outcome) == (Outcome.REJECTED, Outcome.COMPLETE)
    assert first.stage.startswith(stage)
    assert project.events(ev.TaskDelegated)[1].tree == first.tree
    assert f"- Attempt 1: REJECTED ({first.stage}) - {first.reason}" in project.plan_md
    assert f"Attempt 1: REJECTED by {first.stage}" in project.briefs("coder", "code", attempt="2")[0]
    assert project.trailers()["Swarm-Attempts"] == "2"
    groups = {(group["stage"], group["count"], *group["tasks"]) for group in project.json("failures")}
    assert groups == {(first.stage, 1, "1.1")}
    assert project.json("verify")["passed"]


@pytest.mark.slow
@pytest.mark.parametrize(("role", "step"), [("reviewer", "review"), ("test_engineer", "test")])
def test_a_judge_without_a_verdict_ends_the_attempt_and_the_user_decides(
    project: Project, role: str, step: str
) -> None:
    project.planned(rule(role, step, [call("list_files")], TALK, attempt="1"))
    project.swarm("run", exits=1)
    assert len(attempts(project)) == 1  # another attempt of the coder's would mend no judge
    project.swarm("retry", "1.1")
    project.swarm("run", exits=3)
    first, second = attempts(project)
    assert (first.stage, first.outcome, second.outcome) == ("breaker: idle", Outcome.REJECTED, Outcome.COMPLETE)
    assert f"- Attempt 1: REJECTED (breaker: idle) - {role} ({step})" in project.plan_md
    assert "What the role did last:\n- list_files {} -> " in first.feedback[0].message
    assert "list_files" in project.briefs("coder", "code")[1]
    (note,) = [event.note for event in project.events(ev.GuardActed) if event.note.rule == "breaker"]
    assert (note.effect, note.role, note.attempt) == (Effect.REJECTED, role, 1)
    turns = [event.turn for event in project.events(ev.TurnEnded) if event.turn.role == role]
    assert [turn.tripped for turn in turns] == ["idle", ""]
    assert (turns[0].calls, turns[0].tool_calls) == (4, 1)


@pytest.mark.slow
def test_a_commit_hook_that_refuses_has_rejected(project: Project) -> None:
    project.hook("pre-commit", "test -f allowed || { echo HOOK-SAYS-NO; exit 1; }")
    project.planned(code({PART: part("1.1"), "allowed": "yes\n"}, attempt="2"))
    project.swarm("run", exits=3)
    first, second = attempts(project)
    assert (first.stage, second.outcome) == ("commit", Outcome.COMPLETE)
    assert any("HOOK-SAYS-NO" in remark.message for remark in first.feedback)
    assert "HOOK-SAYS-NO" in project.briefs("coder", "code")[1]


@pytest.mark.slow
def test_a_rejection_is_written_before_anything_else_happens(project: Project) -> None:
    project.planned(
        review("REJECTED", "no unit", attempt="1"),
        rule("architect", "delegate", {"fault": {"kind": "500", "retry_after": 0}}, attempt="2"),
    )
    project.swarm("run", exits=5)
    assert "- Attempt 1: REJECTED (reviewer) - no unit" in project.plan_md
    assert attempts(project)[0].outcome is Outcome.REJECTED


def blocked(project: Project, *rules: object, reject: bool = True) -> None:
    """Task 1.1 is rejected until it is blocked."""
    always = [review("REJECTED", "NO-UNIT", "say which unit", task="1.1")] if reject else []
    project.planned(plan("1.1", "1.2"), *always, *rules)  # type: ignore[arg-type]  # rules are dicts
    told = project.swarm("run", exits=1)
    assert "Task 1.1 is blocked" in told.stdout


@pytest.mark.slow
def test_three_rejections_block_the_task_and_show_says_what_may_be_done(project: Project) -> None:
    blocked(project)
    kinds = [each.kind for each in attempts(project)]
    assert kinds == [ev.AttemptKind.CODER, ev.AttemptKind.CODER, ev.AttemptKind.ESCALATED]
    assert "- Attempt 3: ESCALATED, REJECTED (reviewer) - NO-UNIT" in project.plan_md
    shown = project.swarm("show", "1.1").stdout
    assert "blocked: (reviewer) NO-UNIT" in shown
    for command in ("swarm retry 1.1", "swarm revise", "swarm override 1.1", "swarm skip 1.1"):
        assert command in shown
    project.swarm("run", exits=1)  # it stays blocked
    assert len(attempts(project)) == 3


@pytest.mark.slow
def test_max_rejections_is_the_users(project: Project) -> None:
    project.planned(review("REJECTED", "no"), loop={"max_rejections": 1})
    project.swarm("run", exits=1)
    assert [each.kind for each in attempts(project)] == [ev.AttemptKind.CODER, ev.AttemptKind.ESCALATED]


@pytest.mark.slow
def test_the_escalated_attempt_is_the_architects_under_the_same_judges(project: Project) -> None:
    project.planned(review("REJECTED", "no unit"), review(attempt="3"), implement({PART: part("by the architect")}))
    project.swarm("run", exits=3)
    assert attempts(project)[-1].kind is ev.AttemptKind.ESCALATED
    assert (project.root / PART).read_text() == part("by the architect")
    assert len(project.events(ev.GatesRun)) == 3
    assert len(project.briefs("reviewer", "review")) == 3


@pytest.mark.slow
def test_retry_with_a_note_reaches_architect_and_coder(project: Project) -> None:
    blocked(project, review(task="1.1", attempt="4"))
    project.swarm("retry", "1.1", "--note", "THE-UNIT-IS-METRES")
    project.swarm("run", exits=3)
    assert "THE-UNIT-IS-METRES" in project.briefs("coder", "code", task="1.1")[-1]
    assert "THE-UNIT-IS-METRES" in project.briefs("architect", "delegate", task="1.1")[-1]
    assert attempts(project)[3].kind is ev.AttemptKind.CODER
    assert project.state.task("1.2").status is TaskStatus.COMPLETE


@pytest.mark.slow
@pytest.mark.suite("pytest")
def test_an_overridden_reviewer_leaves_all_other_judges_in_office(project: Project) -> None:
    blocked(project, engineer({"tests/test_part.py": PROVEN}, task="1.1"))
    project.swarm("override", "1.1", "--reason", "UNITS-ARE-DOCUMENTED-ELSEWHERE")
    coded = len(project.briefs("coder", "code", task="1.1"))
    project.swarm("run", exits=3)
    last = attempts(project)[-1]
    assert (last.kind, last.outcome) == (ev.AttemptKind.OVERRIDE, Outcome.COMPLETE)
    assert len(project.briefs("coder", "code", task="1.1")) == coded
    assert len(project.briefs("test_engineer", "test", task="1.1")) == 1
    assert project.events(ev.TestsRun)[0].attempt == last.number
    assert "UNITS-ARE-DOCUMENTED-ELSEWHERE" in project.folder.context.read_text()
    assert "OVERRIDDEN - reviewer: UNITS-ARE-DOCUMENTED-ELSEWHERE" in project.plan_md
    history = (project.folder.history / "phase-1.md").read_text()
    assert "- Task 1.1, reviewer, by the user: UNITS-ARE-DOCUMENTED-ELSEWHERE" in history
    assert "override of reviewer by the user: UNITS-ARE-DOCUMENTED-ELSEWHERE" in project.swarm("show", "1.1").stdout
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_an_overruled_reviewer_is_not_asked_again_and_the_commit_says_so(project: Project) -> None:
    blocked(project)
    asked = len(project.briefs("reviewer", "review", task="1.1"))
    project.swarm("override", "1.1", "--reason", "they are\nSwarm-Task: 9.9")
    project.swarm("run", exits=3)
    assert len(project.briefs("reviewer", "review", task="1.1")) == asked == 3
    assert len(project.briefs("reviewer", "review", task="1.2")) == 1
    trailers = {event.task: project.trailers(event.commit) for event in project.events(ev.TaskCompleted)}
    assert trailers["1.1"]["Swarm-Override"] == "reviewer: they are Swarm-Task: 9.9"
    assert trailers["1.1"]["Swarm-Task"] == "1.1"
    assert "Swarm-Override" not in trailers["1.2"]
    last = project.json("show", "1.1")["attempts"][-1]["review"]
    assert (last["verdict"], last["summary"]) == ("REJECTED", "NO-UNIT")  # the record says what was overruled


@pytest.mark.slow
@pytest.mark.suite("pytest")
def test_failing_tests_can_be_overruled_and_the_commit_says_so(project: Project) -> None:
    project.planned(engineer(FAILING))
    project.swarm("run", exits=1)
    assert attempts(project)[-1].stage == "tests"
    project.swarm("override", "1.1", "--reason", "the clock is wrong")
    project.swarm("run", exits=3)
    assert project.trailers()["Swarm-Override"] == "tests: the clock is wrong"
    assert project.json("verify")["passed"]


@pytest.mark.slow
@pytest.mark.suite("pytest")
def test_an_override_of_the_reviewer_does_not_overrule_the_tests(project: Project) -> None:
    blocked(project, engineer(FAILING, task="1.1"))
    project.swarm("override", "1.1", "--reason", "it is fine")
    project.swarm("run", exits=1)
    assert attempts(project)[-1].stage == "tests"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gate", "text"),
    [("syntax_check", BROKEN), ("secret_scan", f'"""A part."""\n\nAWS_KEY = "AKIA{"Q3EGTRBCN7VWXYZ2"}"\n')],
)
def test_some_gates_can_never_be_overridden(project: Project, gate: str, text: str) -> None:
    blocked(project, code({PART: text}, task="1.1"), reject=False)
    told = project.swarm("override", "1.1", "--reason", "trust me", exits=2)
    assert gate in attempts(project)[-1].stage
    assert "cannot be overridden" in told.stderr
    assert "swarm retry 1.1" in told.stderr
    assert "swarm override" not in project.swarm("show", "1.1").stdout


@pytest.mark.slow
def test_a_skipped_task_leaves_its_change_in_the_quarantine_and_a_clean_tree(project: Project) -> None:
    blocked(project, code({PART: part("1.1"), "extra.txt": "left\n"}, task="1.1"))
    project.swarm("skip", "1.1", "--reason", "done elsewhere")
    project.swarm("run", exits=3)
    assert project.state.task("1.1").status is TaskStatus.SKIPPED
    assert not (project.root / PART).exists()
    assert [path.read_text() for path in project.quarantined("extra.txt")] == ["left\n"]
    assert [path.read_text() for path in project.quarantined("part_1.1.py")] == [part("1.1")]
    assert project.git("show", "--name-only", "--format=") == "src/calc/part_1.2.py"
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_a_task_that_is_skipped_last_leaves_nothing_at_the_checkpoint_but_what_is_the_users(project: Project) -> None:
    work = code({PART: part("1.1"), "extra.txt": "left\n"}, task="1.1")
    project.planned(plan("1.1", "2.1"), work, review("REJECTED", "no", task="1.1"))
    project.swarm("run", exits=1)
    project.swarm("skip", "1.1", "--reason", "done elsewhere")
    project.write("mine.txt", "mine\n")
    project.write("AGENTS.md", "my rules\n")
    project.swarm("run", exits=3)
    assert project.git("status", "--porcelain", "--", ".", ":!.swarm") == " M AGENTS.md\n?? mine.txt"
    assert {path.name: path.read_text() for path in project.quarantined()} == {
        "part_1.1.py": part("1.1"),
        "extra.txt": "left\n",
    }
    kinds = [line["event"]["type"] for line in project.lines()]
    assert kinds.index("tree_restored") < kinds.index("phase_closed")
    project.swarm("approve")
    told = project.swarm("run", exits=2).stderr
    assert "mine.txt" in told
    assert "AGENTS.md" in told
    assert "part_1.1" not in told
    project.swarm("run", "--stash", exits=3)
    assert project.git("show", "--name-only", "--format=") == "src/calc/part_2.1.py"
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_a_revision_of_a_blocked_task_waits_for_approval_and_then_goes_on(project: Project) -> None:
    easier = task("1.1", acceptance=["A-SMALLER-GOAL"])
    blocked(project, plan(easier, "1.2", step="revise"), review(task="1.1", contains="A-SMALLER-GOAL"))
    project.swarm("revise", "make it smaller", exits=3)
    assert "make it smaller" in project.briefs("architect", "revise")[0]
    delegated = len(project.events(ev.TaskDelegated))
    project.swarm("run", exits=3)
    assert len(project.events(ev.TaskDelegated)) == delegated
    project.swarm("approve")
    project.swarm("run", exits=3)
    assert project.state.task("1.1").status is TaskStatus.COMPLETE


@pytest.mark.slow
def test_decisions_about_a_task_need_the_right_state(project: Project) -> None:
    project.planned()
    assert "no rejection" in project.swarm("override", "1.1", "--reason", "x", exits=2).stderr
    assert "no task 9.9" in project.swarm("skip", "9.9", "--reason", "x", exits=2).stderr
    assert "needs a reason" in project.swarm("override", "1.1", "--reason", " ", exits=2).stderr
    project.swarm("run", exits=3)
    assert "it is complete" in project.swarm("retry", "1.1", exits=2).stderr


@pytest.mark.slow
def test_evidence_of_each_attempt_is_kept(project: Project) -> None:
    project.planned(review("REJECTED", "no unit", attempt="1"))
    project.swarm("run", exits=3)
    place: Path = project.folder.evidence / "1.1"
    assert sorted(path.name for path in (place / "attempt-1").iterdir()) == [
        "change.patch",
        "gates.json",
        "review.json",
    ]
    assert json.loads((place / "attempt-2/tests.json").read_text())["exit_code"] == 0
    assert plain((place / "attempt-1/change.patch").read_text()).startswith("diff --git a/src/calc/part_1.1.py")


@pytest.mark.slow
def test_what_the_coder_deletes_and_makes_executable_is_committed(project: Project) -> None:
    project.write("old.txt", "old\n")
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=Old")
    work = [
        call("delete_file", path="old.txt"),
        call("write_file", path="go.sh", content="#!/bin/sh\n"),
        call("run_command", command="chmod +x go.sh && printf '\\000\\001' > data.bin"),
        call("finish", summary="x"),
    ]
    project.planned(rule("coder", "code", work), scope={"enforce": "off"})
    project.swarm("run", exits=3)
    raw = project.git("show", "--raw", "--format=", "--no-renames")
    assert {line.split("\t")[1] for line in raw.splitlines()} == {"old.txt", "go.sh", "data.bin"}
    assert ":000000 100755" in raw
