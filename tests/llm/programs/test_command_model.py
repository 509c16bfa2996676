"""An agent program as a model: what it is told, what its output comes to, what its failure is."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from swarmgate.domain.spending.budget import PROJECT, Account
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.errors import BudgetExhausted
from swarmgate.llm.budget import Budget, Metered
from swarmgate.llm.model import CallFailed, Message, ModelReply, ModelRequest, ToolCall, ToolSpec
from swarmgate.llm.programs.command_model import CommandModel, Ran


def spec(name: str, *required: str, answers: bool = True) -> ToolSpec:
    parameters = {"type": "object", "required": list(required), "properties": {}}
    return ToolSpec(name=name, description=f"About {name}.", parameters=parameters, answers=answers)


READ = spec("read_file", "path", answers=False)
WRITE = spec("write_file", "path", answers=False)
FINISH, VERDICT = spec("finish", "summary"), spec("submit_verdict", "verdict", "summary")


class Program:
    """A program that prints what it is told to, and remembers what it got."""

    def __init__(self, respond: Callable[[str], Ran]) -> None:
        self.respond = respond
        self.calls: list[tuple[str, str, bool]] = []

    async def __call__(
        self, command: str, *, brief: str, writes: bool, on_line: Callable[[bytes], None] | None = None
    ) -> Ran:
        self.calls.append((command, brief, writes))
        ran = self.respond(brief)
        if on_line:
            for line in ran.stdout.encode().splitlines():
                on_line(line)
        return ran


def printing(stdout: str, *, exit_code: int | None = 0, stderr: str = "") -> Program:
    return Program(lambda _brief: Ran(exit_code=exit_code, stdout=stdout, stderr=stderr))


async def complete(
    program: Program, *tools: ToolSpec, writes: bool = False, more: tuple[Message, ...] = ()
) -> ModelReply:
    model = CommandModel("command:agent --print", program)
    messages = (Message(role="system", content="You are it."), Message(role="user", content="ROLE: coder\n\nDo it."))
    return await model.complete(ModelRequest(messages=(*messages, *more), tools=(READ, *tools)))


async def test_it_is_told_the_brief_and_only_the_tools_that_answer() -> None:
    program = printing("ok")
    await complete(program, WRITE, FINISH)
    command, brief, writes = program.calls[0]
    assert (command, writes) == ("agent --print", True)
    assert brief.startswith("You are it.\n")
    assert brief.endswith("ROLE: coder\n\nDo it.\n")
    assert "When the work is done, say" in brief
    assert "finish" not in brief
    assert "write_file" not in brief


async def test_a_program_that_works_and_may_ask_is_told_both_and_its_words_still_end_the_turn() -> None:
    ask, arguments = spec("ask_user", "question"), '{"question": "Which unit?"}'
    program = printing("It is done.")
    worked = await complete(program, WRITE, ask, FINISH)
    assert "When the work is done, say" in program.calls[0][1]
    assert '{"tool": "ask_user", "description"' in program.calls[0][1]
    assert '"finish"' not in program.calls[0][1]
    assert [call.name for call in worked.tool_calls] == ["finish"]
    asking = await complete(printing(f'{{"tool": "ask_user", "arguments": {arguments}}}'), WRITE, ask, FINISH)
    assert [(call.name, json.loads(call.arguments)) for call in asking.tool_calls] == [
        ("ask_user", json.loads(arguments))
    ]


async def test_who_judges_is_told_how_a_verdict_is_handed_in() -> None:
    program = printing("ok")
    await complete(program, VERDICT)
    brief = program.calls[0][1]
    assert '{"tool": "submit_verdict", "description": "About submit_verdict.", "arguments": {"type": "object"' in brief
    assert "at the very end of your last message, with nothing after it" in brief
    assert "read_file" not in brief


async def test_a_program_is_told_its_own_instructions_and_not_those_of_models_with_tools() -> None:
    program = printing("ok")
    model = CommandModel("command:agent", program)
    system = Message(role="system", content="Call read_file.")
    await model.complete(ModelRequest(messages=(system,), tools=(VERDICT,), instructions="You work by yourself."))
    assert program.calls[0][1].startswith("You work by yourself.\n")
    assert "read_file" not in program.calls[0][1]


EVENTS = """{"type":"thread.started"}
{"type":"item.started","item":{"type":"command_execution","command":"pytest -q\\ntests"}}
{"type":"item.completed","item":{"type":"file_change","changes":[{"path":"a.py","kind":"add"}]}}
{"type":"item.completed","item":{"type":"agent_message","text":"done"}}
{"type":"turn.completed","usage":{"input_tokens":900,"output_tokens":100}}
"""


async def test_what_a_program_does_is_heard_while_it_does_it() -> None:
    heard: list[str] = []
    model = CommandModel(
        "command:codex exec --json -",
        printing(EVENTS),
        on_event=lambda event, _usage: heard.extend(f"{use.tool} {use.summary}" for use in event.uses),
    )
    reply = await model.complete(ModelRequest(messages=(Message(role="system", content="You."),)))
    assert heard == ["command_execution pytest -q tests", "file_change a.py"]
    assert (reply.text, reply.usage.tokens) == ("done", 1000)


async def test_a_budget_that_is_used_up_ends_a_program_and_what_it_used_counts() -> None:
    spent = Usage()
    budget = Budget(lambda: (Account(PROJECT, Allowance(tokens=500), spent + metered.pending),))
    model = CommandModel("command:x", printing(EVENTS), metering=lambda: metered.metering("command:x"))
    metered = Metered(model, budget)
    with pytest.raises(BudgetExhausted, match="1,000 of 500 tokens"):
        await metered.complete(ModelRequest(messages=(Message(role="system", content="You."),)))
    assert (metered.total.tokens, metered.total.calls) == (1000, 1)
    assert metered.pending == metered.total


async def test_what_was_said_since_is_told_with_it() -> None:
    program = printing("ok")
    call = ToolCall(id="1", name="submit_verdict", arguments='{"verdict": "MAYBE"}')
    more = (
        Message(role="assistant", content="Hm.", tool_calls=(call,)),
        Message(role="tool", tool_call_id="1", content="Error: no such verdict"),
    )
    await complete(program, VERDICT, more=more)
    end = program.calls[0][1].split("Do it.")[1]
    assert end.index('submit_verdict {"verdict": "MAYBE"}') < end.index("Error: no such verdict")


async def test_a_working_turn_ends_with_the_program() -> None:
    reply = await complete(printing("I wrote the file."), WRITE, FINISH)
    assert [(call.name, json.loads(call.arguments)) for call in reply.tool_calls] == [
        ("finish", {"summary": "I wrote the file."})
    ]
    assert reply.usage.calls == 1
    assert reply.usage.tokens > 0
    assert reply.usage.usd is None


async def test_no_verdict_is_made_of_words() -> None:
    reply = await complete(printing("Looks good, APPROVED!"), VERDICT)
    assert reply.tool_calls == ()


async def test_a_verdict_is_taken_from_the_end_of_the_output() -> None:
    reply = await complete(printing('Read it.\n{"verdict": "REJECTED", "summary": "wrong"}'), VERDICT)
    assert json.loads(reply.tool_calls[0].arguments)["verdict"] == "REJECTED"


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (printing("", exit_code=3, stderr="no key\n"), "exit code 3: no key"),
        (printing("half", exit_code=None), "ended at its time limit: half"),
        (printing('{"type":"result","is_error":true,"result":"no credit"}'), "no credit"),
    ],
)
async def test_a_failed_program_is_a_failed_call(program: Program, told: str) -> None:
    with pytest.raises(CallFailed, match=told) as caught:
        await complete(program, WRITE, FINISH)
    assert not caught.value.retriable
    assert caught.value.usage.calls == 1


@pytest.mark.parametrize(
    ("stderr", "told"),
    [
        ("python3: can't open file '/home/a/rev.py': [Errno 2] No such file or directory", "`readable` and `writable`"),
        ("OSError: [Errno 30] Read-only file system: 'x'", "`writable`"),
        ("Invalid API key", "`env`"),
        ("getaddrinfo ENOTFOUND api.example", "`network`"),
        ("Segmentation fault", "start it by hand"),
    ],
)
async def test_a_failure_names_the_settings_that_it_may_come_from(stderr: str, told: str) -> None:
    model = CommandModel("command:agent", printing("", exit_code=1, stderr=stderr), role="coder")
    with pytest.raises(CallFailed) as caught:
        await model.complete(ModelRequest(messages=(Message(role="system", content="You."),)))
    assert told in caught.value.hint
    assert "[roles.coder]" in caught.value.hint
    assert "endpoint" not in caught.value.hint


async def test_a_time_limit_is_told_with_its_seconds_and_its_key() -> None:
    model = CommandModel("command:agent", printing("", exit_code=None), role="coder", timeout_s=3)
    with pytest.raises(CallFailed, match=r"its time limit of 3 s, \[roles.coder\] timeout_s") as caught:
        await model.complete(ModelRequest(messages=(Message(role="system", content="You."),)))
    assert "more time" in caught.value.hint
