"""A turn that was cut short is taken up again: what was answered is not asked, and not paid, a second time."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from tests.project import GOAL, Project, Rule, call, close_phase, critic, engineer, part, plan, review, rule, until

from swarmgate.domain.events import event as ev

pytestmark = pytest.mark.suite("unittest")

PART = "src/calc/part_1.1.py"
WORK: list[list[dict[str, Any]]] = [
    [call("read_file", path="AGENTS.md"), call("list_files")],
    [call("write_file", path=PART, content="half = 1\n")],
    [call("run_command", command="echo half; sleep 0.1; ls src/calc; cd $(mktemp -d) && pwd")],
    [call("edit_file", path=PART, old="half = 1\n", new=part("1.1")), call("run_gates")],
    [call("finish", summary="done")],
]
LOOK = [call("search", pattern="def")]
SLOW = pytest.mark.slow
ROLES: dict[tuple[str, str], Rule] = {
    ("architect", "plan"): plan("1.1"),
    ("critic", "review_plan"): critic(),
    ("architect", "delegate"): rule("architect", "delegate", [call("delegate", instructions="Write the part.")]),
    ("reviewer", "review"): review(),
    ("test_engineer", "test"): engineer(),
    ("architect", "close_phase"): close_phase(),
}


def hanging(work: list[Any], at: int) -> list[Any]:
    """The replies, of which one hangs the first time that it is asked for."""
    turns = [{"tool_calls": each} if isinstance(each, list) else each for each in work]
    return [*turns[:at], {"fault": {"kind": "hang", "times": 1}, "then": turns[at]}, *turns[at + 1 :]]


def asked(project: Project, role: str, step: str) -> int:
    return sum((each.headers["ROLE"], each.headers["STEP"]) == (role, step) for each in project.requests)


def killed_at(project: Project, verb: tuple[str, ...], role: str, step: str, turn: int) -> None:
    """Runs a verb and kills it with SIGKILL when the role is asked for that turn, from 0."""
    process = project.start(*verb)
    until(lambda: asked(project, role, step) > turn)
    process.kill()
    process.communicate()


def replayed(project: Project) -> list[str]:
    return [event.note.detail for event in project.events(ev.GuardActed) if event.note.rule == "replayed"]


@pytest.mark.slow
@pytest.mark.parametrize("turn", [0, pytest.param(1, marks=SLOW), pytest.param(2, marks=SLOW), 3, 4])
def test_killed_at_any_call_of_the_coder(project: Project, turn: int) -> None:
    project.planned(rule("coder", "code", *hanging(WORK, turn)))
    killed_at(project, ("run",), "coder", "code", turn)
    project.swarm("run", exits=3)
    assert asked(project, "coder", "code") == len(WORK) + 1
    assert (project.root / PART).read_text() == part("1.1")
    assert project.state.usage.calls == len(project.requests) - 1  # of the one that was killed nobody heard
    told = replayed(project)
    assert [text.split()[0] for text in told] == ([str(turn)] if turn else [])
    assert not turn or "came from the record" in project.swarm("show", "1.1").stdout
    assert len(project.state.task("1.1").attempts) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "step"),
    [pytest.param(*each, marks=[] if each[0] in ("critic", "reviewer") else SLOW) for each in ROLES],
)
def test_killed_in_the_turn_of_any_role(project: Project, role: str, step: str) -> None:
    (end,) = ROLES[role, step]["replies"]
    project.play(rule(role, step, *hanging([LOOK, end], 1)))
    planning = step in ("plan", "review_plan")
    if planning:
        killed_at(project, ("plan", GOAL), role, step, 1)
    project.swarm("plan", *([] if planning else [GOAL]), exits=3)
    project.swarm("approve")
    if not planning:
        killed_at(project, ("run",), role, step, 1)
    project.swarm("run", exits=3)
    asked_of = Counter((str(each.headers["ROLE"]), str(each.headers["STEP"])) for each in project.requests)
    assert asked_of.pop((role, step)) == 3
    assert set(asked_of.values()) == {1}
    assert len(replayed(project)) == 1


@SLOW
def test_killed_again_and_again(project: Project) -> None:
    project.planned(rule("coder", "code", *(reply for at in range(5) for reply in [hanging(WORK, at)[at]])))
    for turn in range(len(WORK)):
        process = project.start("run")
        until(lambda turn=turn: asked(project, "coder", "code") > 2 * turn)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        process.kill()
        process.communicate()
    project.swarm("run", exits=3)
    assert asked(project, "coder", "code") <= 2 * len(WORK)
    assert project.state.task("1.1").status.value == "complete"


@pytest.mark.slow
def test_an_endpoint_that_failed_is_not_asked_again_what_it_answered(project: Project) -> None:
    fails = {"fault": {"kind": "500", "times": 3}, "then": {"tool_calls": WORK[4]}}
    project.planned(rule("coder", "code", *WORK[:4], fails))
    project.swarm("run", exits=5)
    before = asked(project, "coder", "code")
    project.swarm("run", exits=3)
    assert asked(project, "coder", "code") == before + 1
    assert project.state.usage.tokens == sum(_tokens(project))


def _tokens(project: Project) -> list[int]:
    """What the traces say that was answered, each answer once."""
    found = [json.loads(path.read_text()) for path in project.folder.traces.glob("*.json")]
    usages = [each["reply"]["usage"] for each in found if "reply" in each]
    return [usage["prompt_tokens"] + usage["completion_tokens"] for usage in usages]


# --- no replay ---


@pytest.mark.slow
def test_what_the_user_changed_meanwhile_is_seen(project: Project) -> None:
    project.planned(rule("coder", "code", *hanging(WORK, 3)))
    killed_at(project, ("run",), "coder", "code", 3)
    (project.root / "AGENTS.md").write_text("Other rules.\n")
    project.git("commit", "--all", "--quiet", "--message=Other rules")
    project.swarm("run", exits=3)
    assert not replayed(project)


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"roles__coder": {"model": "local/other"}}, {"roles__coder": {"temperature": 0.5}}])
def test_another_model_or_another_temperature_answers_for_itself(project: Project, change: dict[str, Any]) -> None:
    project.planned(rule("coder", "code", *hanging(WORK, 3)))
    killed_at(project, ("run",), "coder", "code", 3)
    project.configure(**change)
    project.swarm("run", exits=3)
    assert not replayed(project)


@pytest.mark.slow
def test_from_a_result_that_differs_on_the_model_is_asked(project: Project) -> None:
    work = [WORK[1], [call("run_command", command="date +%s%N")], WORK[3], WORK[4]]
    project.planned(rule("coder", "code", *hanging(work, 3)))
    killed_at(project, ("run",), "coder", "code", 3)
    project.swarm("run", exits=3)
    assert [text.split()[0] for text in replayed(project)] == ["2"]
    assert asked(project, "coder", "code") == 4 + 2


@pytest.mark.slow
def test_without_traces_everything_is_asked_again(project: Project) -> None:
    project.planned(rule("coder", "code", *hanging(WORK, 3)))
    killed_at(project, ("run",), "coder", "code", 3)
    for path in project.folder.traces.iterdir():
        path.unlink()
    project.swarm("run", exits=3)
    assert asked(project, "coder", "code") == 4 + len(WORK)


@pytest.mark.slow
def test_what_was_redacted_is_not_given_again(project: Project) -> None:
    leak = [call("search", pattern="sk-test-1234567890abcdef1234")]
    project.planned(rule("coder", "code", *hanging([WORK[0], leak, *WORK[1:]], 3)))
    killed_at(project, ("run",), "coder", "code", 3)
    project.swarm("run", exits=3)
    assert asked(project, "coder", "code") == len(WORK) + 1 + 2  # what hung, and what had a key in it


@pytest.mark.slow
def test_a_new_attempt_asks_anew(project: Project) -> None:
    """The user tries again what a breaker stopped: the same brief, and the model has another chance."""
    project.planned(rule("reviewer", "review", {"text": "hm"}), breakers={"idle": 1})
    project.swarm("run", exits=1)
    before = asked(project, "reviewer", "review")
    project.swarm("retry", "1.1")
    project.swarm("run", exits=1)
    assert asked(project, "reviewer", "review") == 2 * before
    assert not replayed(project)
