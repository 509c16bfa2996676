"""The facade: hand edits of the plan files, tampering, and what verify says of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from tests.project import GOAL, Project, call, plan, rule

from swarmgate.domain.events import event as ev
from swarmgate.domain.state.state import TaskStatus

pytestmark = pytest.mark.suite("unittest")


@pytest.mark.slow
def test_an_edit_of_the_structure_is_taken_at_the_next_command(project: Project) -> None:
    project.play(plan("1.1", "1.2"))
    project.swarm("plan", GOAL, exits=3)
    edited = re.sub(r"- \[ \] Task 1.2(.|\n)*", "", project.plan_md).replace("Part 1.1", "The first part")
    project.folder.plan_md.write_text(edited)
    assert "your edit of plan.md was taken into the plan" in project.swarm("approve").stderr
    project.swarm("run", exits=3)
    assert [event.task for event in project.events(ev.TaskCompleted)] == ["1.1"]
    assert project.git("log", "-1", "--format=%s") == "The first part"
    assert "The first part" in project.folder.plan_json.read_text()


@pytest.mark.slow
def test_an_edit_between_two_runs_is_taken_too(project: Project) -> None:
    project.planned(plan("1.1", "2.1"))
    project.swarm("run", exits=3)
    project.swarm("approve")
    data = json.loads(project.folder.plan_json.read_text())
    data["phases"][1]["tasks"][0]["acceptance"] = ["BY-HAND"]
    project.folder.plan_json.write_text(json.dumps(data))
    project.swarm("run", exits=3)
    assert "BY-HAND" in project.briefs("coder", "code", task="2.1")[0]
    assert project.events(ev.PlanAmended)[0].source == "plan.json"


@pytest.mark.slow
def test_a_task_marked_complete_by_hand_is_refused_restored_and_kept(project: Project) -> None:
    project.planned(plan("1.1", "1.2"))
    before = project.folder.plan_json.read_text()
    edited = before.replace('"pending"', '"complete"', 1)
    assert edited != before
    project.folder.plan_json.write_text(edited)
    told = project.swarm("run", exits=2).stderr
    assert "plan.json line 3: task 1.1 is pending, and the edit says complete" in told
    assert '"complete"' not in project.folder.plan_json.read_text()
    (kept,) = project.quarantined("*plan.json")
    assert kept.read_text() == edited
    assert kept.name in told
    assert project.state.task("1.1").status is TaskStatus.PENDING
    project.swarm("run", exits=3)
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_a_plan_that_cannot_be_read_is_refused_with_its_line(project: Project) -> None:
    project.planned()
    project.folder.plan_md.write_text(project.plan_md + "\nWhat is this?\n")
    told = project.swarm("run", exits=2).stderr
    assert re.search(r"plan.md line \d+", told)
    project.swarm("run", exits=3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plan_md", "plan_json"])
def test_a_deleted_plan_file_comes_back(project: Project, name: str) -> None:
    project.planned()
    path = getattr(project.folder, name)
    path.unlink()
    assert not project.json("verify", exits=1)["passed"]
    project.swarm("run", exits=3)
    assert path.exists()
    assert project.json("verify")["passed"]


def _edit_ledger(project: Project) -> None:
    text = project.folder.ledger.read_text()
    project.folder.ledger.write_text(text.replace("Add parts", "Add ports", 1))


def test_an_altered_line_stops_everything_and_is_named(project: Project) -> None:
    project.planned()
    _edit_ledger(project)
    number = next(line["seq"] for line in project.lines() if line["event"]["type"] == "goal_set")
    for verb in ("run", "approve", "status"):
        assert f"ledger.jsonl line {number} " in project.swarm(verb, exits=1).stderr
    assert f"line {number} " in project.swarm("verify", exits=1).stdout


LOST = "ledger.jsonl is missing or empty, but work has been recorded"


@pytest.mark.slow
@pytest.mark.parametrize("emptied", [True, False])
def test_a_lost_ledger_is_refused_and_nothing_is_written_over(project: Project, *, emptied: bool) -> None:
    project.planned()
    project.swarm("run", exits=3)
    whole = project.folder.ledger.read_bytes()
    project.folder.ledger.write_bytes(b"") if emptied else project.folder.ledger.unlink()
    before = _bytes(project)
    for args in (["status"], ["run"], ["plan", GOAL], ["approve"], ["init"], ["show", "1.1"], ["history"]):
        told = project.json(*args, exits=1)
        assert told["error"] == "LEDGER_CORRUPT"
        assert LOST in told["message"]
        assert "backup" in told["hint"]
    (chain,) = project.json("verify", exits=1)["checks"]
    assert chain["name"] == "chain"
    assert LOST in chain["problems"][0]
    assert _bytes(project) == before
    project.folder.ledger.write_bytes(whole)
    assert project.json("verify")["passed"]


def _bytes(project: Project) -> dict[str, bytes]:
    """Every file of `.swarm/`, without what comes and goes."""
    files = (path for path in project.folder.path.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files if project.folder.runtime not in path.parents}


@pytest.mark.slow
@pytest.mark.parametrize("views", [True, False])
def test_a_ledger_cut_off_before_a_commit_is_refused_and_nothing_is_recorded(project: Project, *, views: bool) -> None:
    project.planned(plan("1.1", "2.1"))
    project.swarm("run", exits=3)
    whole, head = project.folder.ledger.read_bytes(), project.git("rev-parse", "HEAD")
    position = int(project.trailers()["Swarm-Ledger"].split()[0])
    project.folder.ledger.write_bytes(b"".join(whole.splitlines(keepends=True)[: position - 1]))
    if not views:
        project.folder.plan_md.unlink()
        project.folder.plan_json.unlink()
    cut, asked = project.folder.ledger.read_bytes(), len(project.requests)
    for _ in range(2):
        told = project.json("run", exits=1)
        assert told["error"] == "LEDGER_ROLLED_BACK"
        assert "lines were lost" in told["message"]
        assert "backup" in told["hint"]
    assert (project.folder.ledger.read_bytes(), len(project.requests)) == (cut, asked)
    assert project.git("rev-parse", "HEAD") == head
    project.folder.ledger.write_bytes(whole)
    project.swarm("approve")
    assert project.json("verify")["passed"]


def _amend(project: Project) -> None:
    project.git("commit", "--quiet", "--amend", "--message=Mine now")


def _other_content(project: Project) -> None:
    project.write("src/calc/part_1.1.py", "x = 1\n")
    message = project.git("log", "-1", "--format=%B")
    project.git("commit", "--quiet", "--all", "--amend", f"--message={message}")


def _evidence(project: Project) -> None:
    path = project.folder.evidence / "1.1/attempt-1/tests.json"
    path.write_text(path.read_text().replace('"exit_code": 0', '"exit_code": 1'))


def _evidence_gone(project: Project) -> None:
    (project.folder.evidence / "1.1/attempt-1/change.patch").unlink()


def _plan_md(project: Project) -> None:
    project.folder.plan_md.write_text(project.plan_md.replace("[x]", "[ ]"))


def _last_line_gone(project: Project) -> None:
    lines = project.folder.ledger.read_text().splitlines(keepends=True)
    project.folder.ledger.write_text("".join(lines[:5] + lines[6:]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tamper", "check", "told"),
    [
        (_edit_ledger, "chain", "does not match its own hash"),
        (_last_line_gone, "chain", "line 6"),
        (_plan_md, "projections", "task 1.1"),
        (_evidence, "evidence", "tests.json was changed after it was recorded"),
        (_evidence_gone, "evidence", "change.patch cannot be read"),
        (_amend, "commits", "is not on this branch"),
        (_other_content, "commits", "is not on this branch"),
    ],
)
def test_verify_finds_what_was_tampered_with(
    project: Project, tamper: Callable[[Project], None], check: str, told: str
) -> None:
    project.planned()
    project.swarm("run", exits=3)
    assert project.json("verify")["passed"]
    before = {path: path.read_bytes() for path in project.folder.path.rglob("*") if path.is_file()}
    tamper(project)
    report = project.json("verify", exits=1)
    failed = {each["name"]: each["problems"] for each in report["checks"] if each["problems"]}
    assert list(failed) == [check]
    assert told in failed[check][0]
    assert f"FAIL  {check}" in project.swarm("verify", exits=1).stdout
    assert before.keys() >= {path for path in project.folder.path.rglob("*") if path.is_file()}


def test_approve_without_anything_to_approve_says_what_to_do(project: Project) -> None:
    assert 'swarm plan "GOAL"' in project.swarm("approve", exits=2).stderr
    project.planned()
    assert "swarm run" in project.swarm("approve", exits=2).stderr


@pytest.mark.slow
def test_approve_says_what_comes_next(project: Project) -> None:
    project.play()
    project.swarm("plan", GOAL, exits=3)
    assert project.swarm("approve").stdout == "Approved: the plan.\nNext:\n  swarm run: go on with the work\n"
    project.swarm("run", exits=3)
    told = project.json("approve")
    assert told["approved"] == ["phase 1"]
    merge, more = told["actions"]
    assert merge == "git switch main && git merge swarm/parts: take the work over"
    assert more.startswith('swarm plan "GOAL"')
    project.git("switch", "--quiet", "main")
    project.git("merge", "--quiet", "swarm/parts")
    assert (project.root / "src/calc/part_1.1.py").exists()


@pytest.mark.slow
def test_what_agents_write_into_swarm_is_refused(project: Project) -> None:
    sly = [call("write_file", path=".swarm/plan.json", content="{}")]
    work = [call("write_file", path="src/calc/part_1.1.py", content="X = 1\n"), call("finish", summary="x")]
    project.planned(rule("coder", "code", sly, work))
    project.swarm("run", exits=3)
    told = [r.messages[-1]["content"] for r in project.requests if r.headers["STEP"] == "code"][1]
    assert "`.swarm` belongs to swarmgate" in told


@pytest.mark.slow
def test_a_plan_file_that_a_command_of_the_coder_spoilt_changes_nothing(project: Project) -> None:
    spoil = (
        "from pathlib import Path\n"
        "plan = Path('.swarm/plan.json')\n"
        "plan.write_text(plan.read_text().replace('pending', 'complete'))\n"
        "Path('spoil.py').unlink()\n"
    )
    work = [
        call("write_file", path="src/calc/part_1.1.py", content="X = 1\n"),
        call("write_file", path="spoil.py", content=spoil),
        call("run_command", command="python3 spoil.py"),
        call("finish", summary="x"),
    ]
    # In a sandbox `.swarm` is read-only.
    project.planned(plan("1.1", "1.2"), rule("coder", "code", work, task="1.1"), commands={"sandbox": "none"})
    project.swarm("run", exits=3)
    assert [event.task for event in project.events(ev.TaskCompleted)] == ["1.1", "1.2"]
    assert project.state.task("1.2").attempts  # nobody believed the file
    assert "the edit says complete" in project.swarm("approve", exits=2).stderr
    assert project.json("verify")["passed"]
    project.swarm("approve")
