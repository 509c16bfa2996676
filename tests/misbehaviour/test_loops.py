"""Going round in circles, going on without end, and using up more than there is."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from tests.misbehaviour.case import case
from tests.misbehaviour.conftest import FINISH, Scene, call, run, verdict, write
from tests.project import Project, code, engineer, part, plain, review, rule
from tests.project import call as wire

from swarmgate.agents.context import AgentContext, Limits
from swarmgate.agents.roles.coder import code as work
from swarmgate.config.guards import Bounds
from swarmgate.domain.events import event as ev
from swarmgate.domain.guard import Effect
from swarmgate.errors import BreakerTripped
from swarmgate.llm.model import ModelReply, ModelRequest, ToolCall

pytestmark = pytest.mark.suite("unittest")


def limits(*, replies: int = 3, max_turns: int = 80, context_tokens: int = 128_000, **bounds: Any) -> Limits:
    return Limits(
        replies=replies,
        max_turns=max_turns,
        command_timeout_s=20,
        context_tokens=context_tokens,
        bounds=Bounds().model_copy(update=bounds),
    )


async def trips(scene: Scene, breaker: str, *replies: Any, bounds: Limits | None = None) -> BreakerTripped:
    """The coder is stopped by that breaker, and both the note and the turn say so."""
    with pytest.raises(BreakerTripped) as caught:
        await scene.coder(*replies, limits=bounds or limits())
    assert caught.value.breaker == breaker
    assert scene.noted("breaker", Effect.REJECTED)[0].startswith(f"{breaker}: ")
    assert scene.turns[-1].tripped == breaker
    return caught.value


# --- the same again ---


@case("loops", "the same call five times", "breaker `repeats`: warned at the 3rd and 4th, the 5th is not carried out")
async def test_the_same_call(scene: Scene) -> None:
    counting = run("echo x >> src/count; cat src/count")
    await trips(scene, "repeats", *[counting] * 9)
    assert (scene.root / "src/count").read_text() == "x\n" * 4
    assert [("[Breaker: " in told) for told in scene.heard] == [False, False, True, True]


@case(
    "loops",
    "the same call in other clothes: key order, white space, `null`, JSON in JSON",
    "calls are compared by meaning",
)
async def test_disguised_repetition(scene: Scene) -> None:
    plain_call = {"pattern": "one", "glob": "src/**"}
    spellings = (
        json.dumps(plain_call),
        json.dumps(dict(reversed(plain_call.items())), indent=4),
        json.dumps(json.dumps(plain_call)),
        '  {"glob" : "src/**",\n"pattern": "one"}  ',
        json.dumps(plain_call, indent=1),
    )
    calls = (ToolCall(id="c", name="search", arguments=text) for text in spellings)
    assert (await trips(scene, "repeats", *calls)).count == 5


@case("loops", "write A, write B, write A, write B", "a write is the same write whatever happened in between")
async def test_alternating_writes(scene: Scene) -> None:
    a, b = write("src/app.py", "A = 1\n"), write("src/app.py", "B = 2\n")
    stopped = await trips(scene, "repeats", *[a, b] * 6)
    assert stopped.count == 5


@pytest.mark.slow
@case("loops", "a circle of three commands, each of which changes nothing new", "a command made before is no progress")
async def test_circle_of_commands(scene: Scene) -> None:
    circle = [run("cat README.md"), run("ls src"), run("git status --short")]
    await trips(scene, "repeats", *circle * 8)
    assert scene.turns[-1].tool_calls < 20


@case("loops", "the same edit that fails, with the tests in between", "a failed edit is no progress")
async def test_failing_edit(scene: Scene) -> None:
    edit = call("edit_file", path="src/app.py", old="not there", new="x")
    with pytest.raises(BreakerTripped) as caught:
        await scene.coder(*[edit, run("true")] * 9, limits=limits())
    assert caught.value.breaker in {"repeats", "errors"}
    assert scene.noted("breaker", Effect.REJECTED)


@case(
    "loops", "the test engineer runs the same suite for ever", "the breakers are those of every role; the note names it"
)
async def test_engineer_repeats(scene: Scene) -> None:
    with pytest.raises(BreakerTripped):
        await scene.engineer(*[run("true")] * 9)
    (note,) = [note for note in scene.notes if note.rule == "breaker" and note.effect is Effect.REJECTED]
    assert (note.role, note.step) == ("test_engineer", "test")


# --- without end ---


@case("loops", "201 different tool calls in one turn", "breaker `tool_calls`: the next one is not carried out")
async def test_tool_calls(scene: Scene) -> None:
    calls = tuple(call("search", pattern=f"p{number}") for number in range(9))
    await trips(scene, "tool_calls", ModelReply(tool_calls=calls), bounds=limits(tool_calls=6))
    assert scene.turns[-1].tool_calls == 6


@pytest.mark.slow
@case(
    "loops", "a command that hangs, with a child that would write later", "breaker `wall_time`: both are ended at once"
)
async def test_wall_time(scene: Scene) -> None:
    started = time.monotonic()
    hang = run("(sleep 1; touch src/late) & sleep 60")
    await trips(scene, "wall_time", hang, bounds=limits(wall_time_s=0.4))
    assert time.monotonic() - started < 5
    await asyncio.sleep(0.9)
    assert not (scene.root / "src/late").exists()


@case("loops", "a model that never answers", "breaker `wall_time` ends the wait for a model, too")
async def test_hanging_model(scene: Scene) -> None:
    class Hanging:
        name = "local/slow"

        async def complete(self, request: ModelRequest) -> ModelReply:
            await asyncio.sleep(60)
            raise AssertionError(request)

    async def gates() -> str:
        return ""

    made = scene.agent("coder", "code", limits=limits(wall_time_s=0.2))
    agent = AgentContext(**{**vars(made), "model": Hanging()})
    with pytest.raises(BreakerTripped) as caught:
        await work(agent, task=scene.task, attempt=1, scope=(), instructions="", feedback="", run_gates=gates)
    assert caught.value.breaker == "wall_time"
    assert scene.noted("breaker", Effect.REJECTED)


@case("loops", "five calls in a row that fail, each in another way", "breaker `errors`")
async def test_errors(scene: Scene) -> None:
    failing = [
        call("read_file", path="nowhere.py"),
        call("read_file", path="../x"),
        call("edit_file", path="src/app.py", old="zzz", new="y"),
        call("delete_file", path="gone.py"),
        call("search", pattern="("),
    ]
    assert (await trips(scene, "errors", *failing)).count == 5


@case("loops", "talk instead of work, three times in a row", "breaker `idle`")
async def test_idle(scene: Scene) -> None:
    await trips(scene, "idle", *["Let me think about it."] * 9)
    assert scene.turns[-1].calls == 3


@case(
    "loops", "calls of tools that do not exist, and arguments that are no JSON", "breaker `replies`: unusable replies"
)
async def test_unusable(scene: Scene) -> None:
    broken = ToolCall(id="c", name="write_file", arguments='{"path": "a.py", "content": "x')
    await trips(scene, "replies", call("become_root"), broken, call("sudo"), broken, call("x"))
    assert not (scene.root / "a.py").exists()


@case("loops", "one more call each time, without end", "breaker `max_turns`: model calls of a turn")
async def test_max_turns(scene: Scene) -> None:
    calls = [call("search", pattern=f"p{number}") for number in range(9)]
    await trips(scene, "max_turns", *calls, bounds=limits(max_turns=5))
    assert scene.turns[-1].calls == 5


@case("loops", "use a million tokens for one turn", "breaker `tokens`: looked at before each call of the model")
async def test_tokens(scene: Scene) -> None:
    from swarmgate.domain.usage import Usage

    dear = [
        ModelReply(tool_calls=(call("search", pattern=f"p{number}"),), usage=Usage(prompt_tokens=600_000))
        for number in range(9)
    ]
    await trips(scene, "tokens", *dear, bounds=limits(tokens=1_000_000))
    assert scene.turns[-1].calls == 2


@case("loops", "an end of the turn that is refused, again and again", "breaker `replies`")
async def test_refused_end(scene: Scene) -> None:
    contradiction = verdict(findings=[{"severity": "critical", "message": "It can be injected."}])
    with pytest.raises(BreakerTripped) as caught:
        await scene.reviewer(*[contradiction] * 9)
    assert caught.value.breaker == "replies"
    assert scene.noted("breaker", Effect.REJECTED)


@pytest.mark.slow
@case(
    "loops",
    "say the same lines to the end of the window, streamed",
    "the answer is cut after about 1,000 tokens of the same, which count; the model and the user are told",
)
def test_the_same_lines_without_end(project: Project) -> None:
    looping = {"text": "The plan is to add the parts, one after the other.\n" * 4_000}
    writing = [wire("write_file", path=PART, content=part("1.1"))]
    project.planned(rule("coder", "code", looping, writing, [wire("finish", summary="done")]))
    shown = " ".join(plain(project.swarm("run", exits=3).stderr).split())
    assert "local/junior: the answer was cut off: it said the same over and over" in shown
    second = next(each for each in project.requests if each.headers["ROLE"] == "coder" and len(each.messages) > 2)
    assert "Say each thing once" in str(second.messages[-1]["content"])
    turn = next(each for each in project.state.task("1.1").turns if each.role == "coder")
    assert 1_000 < turn.tokens < 40_000


@case("loops", "a result of 3 MB, to fill the window of the next role", "long results are cut, with how to read on")
async def test_long_results(scene: Scene) -> None:
    (scene.root / "src/big.txt").write_text("line\n" * 600_000)
    (told,) = await scene.coder(call("read_file", path="src/big.txt"), limits=limits(context_tokens=8_000))
    assert len(told) <= 4_000 + 200
    assert "start_line" in told


@case("loops", "read until the window is full", "old results are dropped, the brief never; the turn says how many")
async def test_full_window(scene: Scene) -> None:
    for number in range(40):
        (scene.root / f"src/f{number}.txt").write_text(f"{number} line of text\n" * 100)
    reads = [call("read_file", path=f"src/f{number}.txt") for number in range(40)]
    await scene.coder(*reads, limits=limits(context_tokens=10_000))
    assert scene.model
    last = scene.model.requests[-1]
    assert sum(len(each.content) for each in last.messages) // 4 < 10_000
    assert last.messages[1] == scene.model.requests[0].messages[1]
    assert scene.turns[-1].dropped > 0


# --- what it means in a run ---


def seen(project: Project, pattern: str) -> list[Effect]:
    """The effects of the notes about one pattern, in order."""
    notes = [event.note for event in project.events(ev.GuardActed) if event.note.rule == "trajectory"]
    return [note.effect for note in notes if pattern in note.detail]


PART = "src/calc/part_1.1.py"
NO = review("REJECTED", "objection {{attempt}}")


@pytest.mark.slow
@case(
    "loops",
    "ping-pong: attempt 3 brings back what attempt 2 had changed of attempt 1",
    "seen by the content of files; stopped",
)
def test_ping_pong(project: Project) -> None:
    odd, even = part("a"), part("b")
    turns = [code({PART: odd if number % 2 else even}, attempt=str(number)) for number in range(1, 6)]
    project.planned(*turns, NO, loop={"max_rejections": 5})
    project.swarm("run", exits=1)
    assert seen(project, "ping-pong") == [Effect.NOTED, Effect.WARNED, Effect.STOPPED]
    assert project.events(ev.TaskBlocked)[0].stage == "trajectory: ping-pong"


@pytest.mark.slow
@case(
    "loops",
    "stuck on test: other work each time, and the same test fails with the same message",
    "stopped at the third time",
)
@pytest.mark.suite("pytest")
def test_stuck_on_test(project: Project) -> None:
    failing = "def test_part() -> None:\n    assert 2 + 2 == 5, 'sums are wrong'\n"
    turns = [code({PART: part(f"try {number}")}, attempt=str(number)) for number in range(1, 6)]
    project.planned(*turns, engineer({"tests/test_part.py": failing}), loop={"max_rejections": 5})
    project.swarm("run", exits=1)
    assert seen(project, "stuck on test") == [Effect.NOTED, Effect.WARNED, Effect.STOPPED]
    assert project.events(ev.TaskBlocked)[0].stage == "trajectory: stuck on test"


@pytest.mark.slow
@case("loops", "scope growth: each attempt changes more files than the one before", "stopped at the third time")
def test_scope_growth(project: Project) -> None:
    files = [f"src/calc/more_{number}.py" for number in range(50)]
    turns = [
        code({PART: part(f"try {number}"), **{path: part(path) for path in files[:more]}}, attempt=str(number))
        for number, more in enumerate((3, 7, 14, 24, 40), start=1)
    ]
    project.planned(*turns, NO, loop={"max_rejections": 5})
    project.swarm("run", exits=1)
    assert seen(project, "scope growth") == [Effect.NOTED, Effect.WARNED, Effect.STOPPED]
    assert project.events(ev.TaskBlocked)[0].stage == "trajectory: scope growth"


@pytest.mark.slow
@case(
    "loops",
    "context thrash: unchanged files are read again ten times in a turn",
    "counted for each turn; advice in the next brief",
)
def test_context_thrash(project: Project) -> None:
    paths = ("AGENTS.md", "tests/test_calc.py", "src/calc/__init__.py", ".gitignore")
    reading = [[wire("read_file", path=path) for path in paths] for _ in range(4)]
    done = [wire("write_file", path=PART, content=part("{{attempt}}")), wire("finish", summary="x")]
    project.planned(
        rule("coder", "code", *reading, done), review("REJECTED", "no", attempt="1"), breakers={"repeats": 50}
    )
    project.swarm("run", exits=3)
    assert seen(project, "context thrash") == [Effect.NOTED]
    assert "context thrash" in project.briefs("coder", "code")[1]


# --- budgets ---


@pytest.mark.slow
@pytest.mark.parametrize("whose", ["run", "phase", "task"])
@case(
    "loops",
    "use up the budget of a task, of a phase, of a run",
    "checked before every call: the run pauses with exit code 4",
)
def test_budgets(project: Project, whose: str) -> None:
    project.planned()
    project.configure(**{f"budget__{whose}": {"tokens": 1}})
    calls = len(project.requests)
    told = plain(project.swarm("run", exits=4).stderr)
    assert f"the budget of {'this run' if whose == 'run' else whose}" in told
    assert len(project.requests) - calls <= 1
    assert project.events(ev.RunPaused)[-1].reason is ev.PauseReason.BUDGET
    assert not project.events(ev.TaskCompleted)


# --- limits of models ---


def refusing(**fault: Any) -> dict[str, Any]:
    """The coder's turn behind a refusal that is repeated for ever, or `times` times."""
    done = [wire("write_file", path=PART, content=part("1.1")), wire("finish", summary="x")]
    return rule("coder", "code", {"fault": {"kind": "429", **fault}, "then": {"tool_calls": done}})


def unharmed(project: Project) -> bool:
    """Whether no task has suffered from what an endpoint said."""
    rejected, blocked = project.events(ev.AttemptRejected), project.events(ev.TaskBlocked)
    return not rejected and not blocked


@pytest.mark.slow
@pytest.mark.parametrize("header", ["Retry-After", "x-ratelimit-reset"])
@case(
    "loops",
    "an endpoint names an end in thirty years, or in a number that is no moment, to hold a run for ever",
    "it is not believed: a fault like any other, tried again `max_retries` times; the run pauses",
)
def test_an_absurd_end(project: Project, header: str) -> None:
    project.planned(refusing(headers={header: "999999999"}, body="try again in 1e999 hours"))
    project.swarm("run", "--wait", exits=5)
    assert unharmed(project)


@pytest.mark.slow
@case(
    "loops",
    "an endpoint says again and again that its limit ends in a moment, and it never does",
    "the waits of one call together are bounded by `[loop] wait_limit`: then the run pauses with exit code 4",
)
def test_an_end_that_never_comes(project: Project) -> None:
    project.planned(refusing(headers={"retry-after-ms": "1300"}), loop={"wait_limit": 3})
    project.configure(providers__local={"max_retries": 0}, loop={"wait_limit": 3})
    project.swarm("run", exits=4)
    assert project.events(ev.RunPaused)[-1].reason is ev.PauseReason.LIMIT
    assert unharmed(project)


@pytest.mark.slow
def test_an_honest_end_is_waited_for(project: Project) -> None:
    """The twin of the two above."""
    project.planned(refusing(headers={"retry-after-ms": "1300"}, times=2), loop={"wait_limit": 30})
    project.configure(providers__local={"max_retries": 0}, loop={"wait_limit": 30})
    project.swarm("run", exits=3)
    assert unharmed(project)
    assert not project.events(ev.RunPaused)


def test_the_scene_can_end_well(scene: Scene) -> None:
    """A turn that does nothing wrong leaves no note: else none of the cases would show anything."""
    asyncio.run(scene.coder(write("src/app.py", "def two():\n    return 2\n"), run("cat src/app.py"), FINISH))
    assert scene.notes == []
    assert scene.turns[-1].tripped == ""
