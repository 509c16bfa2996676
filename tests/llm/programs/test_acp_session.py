"""A conversation by the Agent Client Protocol, with the words of a program that says anything."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.domain.usage import Usage
from swarmgate.llm.programs.acp_session import Asked, Session, asked
from swarmgate.llm.programs.json_rpc import Hung

KEYS = st.sampled_from(
    ["sessionUpdate", "update", "toolCallId", "kind", "status", "rawInput", "title", "content", "text", "locations",
     "path", "cost", "amount", "currency", "used", "entries", "options", "optionId", "toolCall", "type", "command"]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text()
    | st.sampled_from(["tool_call", "tool_call_update", "agent_message_chunk", "usage_update", "plan", "USD", "edit"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
)  # fmt: skip


class Pipe:
    """A program that says these lines, and answers no request but with `results`, in their order."""

    def __init__(self, lines: list[bytes], results: list[Any]) -> None:
        self.lines, self.results, self.sent = list(lines), list(results), list[dict[str, Any]]()
        self.queue: list[bytes] = []
        self.news = asyncio.Event()
        self.stderr, self.exit_code = "", None

    async def send(self, line: bytes) -> None:
        message = json.loads(line)
        self.sent.append(message)
        if "method" in message and "id" in message:
            answer = json.dumps({"id": message["id"], "result": self.results.pop(0)}).encode()
            self.queue = [*(self.lines if not self.results else []), answer]
            self.news.set()

    async def receive(self) -> bytes:
        while not self.queue:
            self.news.clear()
            await self.news.wait()
        line = self.queue.pop(0)
        if line == b"EOF":
            raise EOFError
        return line


async def told(lines: list[bytes], last: Any = None) -> tuple[str, str, Usage | None, list[Asked], Pipe]:
    """What a prompt comes to while the program says these lines."""
    wishes: list[Asked] = []
    results = [{"protocolVersion": 1}, {"sessionId": "s"}, {"stopReason": "end_turn"} if last is None else last]
    pipe = Pipe(lines, results)

    def permit(wish: Asked) -> str:
        wishes.append(wish)
        return ""

    session = Session(pipe, permit=permit, on_event=lambda _event, _usage: None)
    listening = asyncio.ensure_future(session.peer.listen())
    try:
        async with asyncio.timeout(30):
            await session.open("/r")
            turn = await session.prompt("Do it.")
    finally:
        listening.cancel()
    return turn.text, turn.stop, turn.usage, wishes, pipe


@given(st.lists(VALUES, max_size=5))
def test_nothing_that_a_program_says_breaks_the_conversation(values: list[Any]) -> None:
    lines = [json.dumps({"method": "session/update", "params": {"update": value}}).encode() for value in values]
    for value in values:
        asks = {"id": 9, "method": "session/request_permission", "params": {"toolCall": value, "options": value}}
        lines.append(json.dumps(asks).encode())
    lines += [json.dumps(value).encode() for value in values]
    _, stop, usage, _, _ = asyncio.run(told([b"no json", b"{", *lines]))
    assert stop == "end_turn"
    assert usage
    assert usage.usd is None or 0 <= usage.usd < 10**13


@pytest.mark.parametrize("last", [{}, [], "end_turn", {"stopReason": None}, {"stopReason": "who knows"}])
async def test_an_end_without_a_known_reason_is_no_end(last: Any) -> None:
    assert (await told([], last))[1] != "end_turn"


async def test_who_hangs_up_is_told_from_who_answers() -> None:
    with pytest.raises(Hung):
        await told([b"EOF"])


async def test_only_this_once_is_ever_chosen() -> None:
    options = [{"optionId": "a", "kind": "allow_always"}, {"optionId": "b", "kind": "allow_once"}]
    for offered, outcome in (
        (options, {"outcome": "selected", "optionId": "b"}),
        (options[:1], {"outcome": "cancelled"}),
    ):
        params = {"toolCall": {"toolCallId": "1", "kind": "read"}, "options": offered}
        line = json.dumps({"id": 7, "method": "session/request_permission", "params": params}).encode()
        pipe = (await told([line]))[4]
        assert [each["result"]["outcome"] for each in pipe.sent if each.get("id") == 7 and "result" in each] == [
            outcome
        ]


@pytest.mark.parametrize(
    ("call", "wish"),
    [
        (
            {"kind": "execute", "rawInput": {"command": ["rm", "-rf", "a b"]}},
            Asked(kind="execute", command="rm -rf 'a b'"),
        ),
        ({"kind": "execute", "title": "`ls`"}, Asked(kind="execute", title="`ls`", command="ls")),
        (
            {"kind": "edit", "locations": [{"path": "/x"}], "rawInput": {"path": "y"}},
            Asked(kind="edit", writes=("/x", "y")),
        ),
        ({"kind": "read", "content": [{"type": "diff", "path": "/x"}]}, Asked(kind="edit", writes=("/x",))),
        ({"kind": "delete"}, Asked(kind="delete", writes=("",))),
        ({"kind": "other", "rawInput": {"command": "ls"}}, Asked(kind="other", command="ls")),
    ],
)
def test_what_is_asked_for_is_read_from_wherever_it_stands(call: dict[str, Any], wish: Asked) -> None:
    assert asked(call) == wish
