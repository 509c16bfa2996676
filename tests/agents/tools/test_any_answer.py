"""A coder that says anything at all, over the real wire: its turn ends by a rule, and what is kept can be written."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.confined import runner
from tests.misbehaviour.case import case

from swarmgate.agents.context import AgentContext, Limits
from swarmgate.agents.prompts import Prompts
from swarmgate.agents.roles.coder import code
from swarmgate.agents.tools.tool_table import BadCall, offered, read_call
from swarmgate.config import Config, Provider, Role
from swarmgate.domain.plan.plan import Task
from swarmgate.errors import SwarmError
from swarmgate.llm.budget import Budget
from swarmgate.llm.connect import connect
from swarmgate.llm.model import ToolCall
from swarmgate.testing import ScriptedServer
from swarmgate.workspace.file_tools.files import FileTree

HALVES = ("\ud800", "a\udfffb", "\ud800\ud83d\ude00")
RAW = {
    "out of range": '{"path": 1e999}',
    "not a number": '{"path": "README.md", "start_line": NaN}',
    "5,000 digits": '{"path": "README.md", "start_line": ' + "9" * 5000 + "}",
    "4,299 digits": '{"path": "README.md", "start_line": ' + "9" * 4299 + "}",
    "deep": "[" * 5000 + "]" * 5000,
    "not so deep": '{"path": ' + "[" * 900 + "]" * 900 + "}",
    "deep text": json.dumps({"path": "[" * 900 + "]" * 900}),
    "an escaped half": '{"path": "\\ud800"}',
    "encoded twice": json.dumps('{"path": "\\ud800"}'),
    "a key twice": '{"path": "a", "path": "README.md"}',
    "a half": "\ud800",
    "open": "{",
    "a large float": '{"path": "README.md", "start_line": 1e308}',
}
"""Arguments as they come in; a generated one names them, so that what hypothesis prints stays short."""

_TEXT = st.one_of(st.sampled_from([*HALVES, "", "\0", "\x1b[2J"]), st.text(st.characters(), max_size=10))
_VALUE: Any = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), _TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_TEXT, inner, max_size=2)),
    max_leaves=4,
)
_KEYS = st.sampled_from(["path", "content", "old", "new", "pattern", "glob", "start_line", "summary", "\ud800"])
_NAMES = ("read_file", "list_files", "search", "write_file", "edit_file", "delete_file", "finish", "\ud800")
_CALLS = st.tuples(st.sampled_from(_NAMES), st.one_of(st.sampled_from([*RAW]), st.dictionaries(_KEYS, _VALUE)))
_REPLIES = st.lists(st.tuples(_TEXT, st.lists(_CALLS, max_size=2)), min_size=1, max_size=3)


def _reply(text: str, calls: list[tuple[str, Any]]) -> dict[str, Any]:
    spelt = (RAW[said] if isinstance(said, str) else json.dumps(said) for _, said in calls)
    named = zip(calls, spelt, strict=True)
    return {
        "text": text or "-",
        "tool_calls": [{"name": name, "arguments": arguments} for (name, _), arguments in named],
    }


async def _coded(repo: Path, task: Task, replies: list[dict[str, Any]], kept: list[Any], *, tools: bool) -> None:
    end = {"tool_calls": [{"name": "finish", "arguments": {"summary": "done"}}]}
    with ScriptedServer([{"replies": [*replies, end]}]) as server:
        provider = Provider.model_validate({"base_url": server.base_url, "tools": tools, "max_retries": 0})
        config = Config(providers={"local": provider}, roles={"coder": Role.model_validate({"model": "local/coder"})})
        model = connect("coder", config, environ={}, recorder=None, budget=Budget())
        told = {"on_guard": kept.append, "on_turn": kept.append, "on_count": kept.append}
        limits = Limits(replies=2, max_turns=6)
        agent = AgentContext(model, FileTree(repo), Prompts(), commands=runner(repo), limits=limits, **told)  # type: ignore[arg-type]  # they take anything
        try:
            work = {"scope": task.files, "instructions": "", "feedback": "", "run_gates": asyncio.Event().wait}
            kept.append(await code(agent, task=task, attempt=1, **work))  # type: ignore[arg-type]  # no gates are asked for
        except SwarmError as error:
            kept.append(error.message)
        finally:
            await model.aclose()


@pytest.mark.slow
@pytest.mark.parametrize("tools", [True, False], ids=["native tools", "json in text"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=25)
@given(replies=_REPLIES)
@example(replies=[("", [("read_file", name)]) for name in ("out of range", "5,000 digits", "deep", "a key twice")])
@example(replies=[("", [("read_file", name)]) for name in ("4,299 digits", "not so deep", "not a number", "deep text")])
@example(replies=[("\ud800", [("write_file", {"path": "a\ud800.md", "content": "\udfff"}), ("\ud800", "open")])])
@example(replies=[("", [("finish", {"summary": "\ud800"})])])
def test_any_answer(repo: Path, task: Task, replies: list[Any], *, tools: bool) -> None:
    kept: list[Any] = []
    asyncio.run(_coded(repo, task, [_reply(*each) for each in replies], kept, tools=tools))
    assert kept
    for each in kept:
        text = each.model_dump_json() if hasattr(each, "model_dump_json") else str(each)
        assert text.encode()


@case(
    "lies",
    "arguments that can be read in two ways or not at all: a key twice, `NaN`, 1e999, 5,000 digits, 5,000 levels",
    "the call is not carried out, and asked again with the reason",
)
@pytest.mark.parametrize("name", ["a key twice", "not a number", "out of range", "deep", "5,000 digits", "open"])
def test_arguments_that_are_not_clear_are_asked_again(name: str) -> None:
    with pytest.raises(
        BadCall, match=r"read in two ways|not JSON that can be read|not valid JSON|must be a JSON|nested too deeply"
    ):
        read_call(ToolCall(id="c", name="read_file", arguments=RAW[name]), offered("coder", "code"))


@pytest.mark.parametrize("name", ["an escaped half", "encoded twice"])
def test_half_of_a_character_becomes_a_visible_sign(name: str) -> None:
    call = ToolCall(id="c", name="read_file", arguments=RAW[name])
    _, arguments = read_call(call, offered("coder", "code"))
    assert arguments.path == "\ufffd"  # type: ignore[attr-defined]  # it is read_file's


@pytest.mark.parametrize("text", ["\\\\ud800", "\\ud83d\\ude00", "\ufffd", "\U0001f600", "\\n"])
def test_what_is_no_half_stays(text: str) -> None:
    call = ToolCall(id="c", name="read_file", arguments=f'{{"path": "{text}"}}')
    assert call.arguments == f'{{"path": "{text}"}}'
    assert call.replaced == 0
