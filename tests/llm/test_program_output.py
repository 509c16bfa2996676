"""What agent programs print, as it was seen of the real ones, and what of it counts as their answer."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from swarmgate.llm.model import ToolSpec
from swarmgate.llm.program_output import answer, said

VERDICT = ToolSpec(
    name="submit_verdict",
    description="Give your verdict.",
    parameters={"type": "object", "required": ["verdict", "summary"], "properties": {}},
    answers=True,
)
FINISH = ToolSpec(name="finish", description="Say it.", parameters={"type": "object", "required": ["summary"]})
APPROVED = {"verdict": "APPROVED", "summary": "fine"}
REJECTED = {"verdict": "REJECTED", "summary": "no expiry", "findings": [{"severity": "high", "message": "m"}]}


def spoken(arguments: Mapping[str, object], tool: str = "submit_verdict") -> str:
    return json.dumps({"tool": tool, "arguments": arguments})


@pytest.mark.parametrize(
    ("printed", "text", "tokens", "usd"),
    [
        ("just words\n", "just words\n", None, None),
        (
            json.dumps(
                {
                    "type": "result", "subtype": "success", "is_error": False, "result": "done", "total_cost_usd": 0.5,
                    "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5,
                              "output_tokens": 7},
                }
            ),
            "done", (105, 90, 7), 0.5,
        ),
        (
            '{"type":"system","subtype":"init"}\n{"type":"result","result":"last","usage":{"input_tokens":3}}\n',
            "last", (3, 0, 0), None,
        ),
        (
            ('{"type":"thread.started"}\n'
            '{"type":"item.completed","item":{"type":"agent_message","text":"first"}}\n'
            '{"type":"item.completed","item":{"type":"command_execution","text":"ls"}}\n'
            '{"type":"item.completed","item":{"type":"agent_message","text":"second"}}\n'
            '{"type":"turn.completed","usage":{"input_tokens":8,"cached_input_tokens":6,"output_tokens":2}}\n'),
            "second", (8, 6, 2), None,
        ),
        ('{"response": "words", "stats": {"models": {}}}', "words", None, None),
    ],
)  # fmt: skip
def test_the_final_answer_is_taken_out_of_its_envelope(
    printed: str, text: str, tokens: tuple[int, int, int] | None, usd: float | None
) -> None:
    found = said(printed)
    assert found.text == text
    assert not found.error
    if tokens is None:
        assert found.usage is None
    else:
        assert found.usage is not None
        assert (found.usage.prompt_tokens, found.usage.cached_tokens, found.usage.completion_tokens) == tokens
        assert found.usage.usd == usd


@pytest.mark.parametrize(
    "printed",
    [
        '{"type":"result","is_error":true,"result":"Credit balance is too low"}',
        '{"type":"turn.failed","error":{"message":"Credit balance is too low"}}',
        '{"response":"","stats":{},"error":{"type":"ApiError","message":"Credit balance is too low"}}',
    ],
)
def test_a_programs_own_complaint_is_an_error(printed: str) -> None:
    assert said(printed).error == "Credit balance is too low"


@pytest.mark.parametrize(
    "text",
    [
        spoken(REJECTED),
        "I read it all.\n\n```json\n" + spoken(REJECTED) + "\n```\n",
        json.dumps(REJECTED),
        "Here it is:\n" + json.dumps(REJECTED, indent=2) + "\n",
        "[" + spoken(REJECTED) + "]",
        spoken(REJECTED) + "\nIn short:\n" + spoken(REJECTED),
        "<think>Tempting: " + spoken(APPROVED) + "</think>\n" + spoken(REJECTED),
        spoken(APPROVED) + "\nThat was thinking aloud.</think>\n" + spoken(REJECTED),
    ],
)
def test_json_at_the_end_is_the_answer(text: str) -> None:
    calls = answer(text, [VERDICT], prefix="c").calls
    assert [call.name for call in calls] == ["submit_verdict"]
    assert json.loads(calls[0].arguments) == REJECTED


@pytest.mark.parametrize(
    "text",
    [
        "",
        "APPROVED",
        "The file says " + spoken(APPROVED) + " but I am not convinced.",
        spoken(APPROVED) + "\nThat is what the comment in the file asks me to say.",
        '{"tool": "submit_verdict", "arguments": {"verdict": "APPROVED"',
        json.dumps({"verdict": "APPROVED"}),
        json.dumps({"summary": "no verdict in it"}),
        "{" * 5_000,
    ],
)
def test_nothing_else_is_an_answer(text: str) -> None:
    assert answer(text, [VERDICT], prefix="c").calls == ()


@pytest.mark.parametrize("last", [spoken(REJECTED), json.dumps(REJECTED), "```json\n" + spoken(REJECTED) + "\n```"])
def test_between_two_verdicts_nobody_chooses(last: str) -> None:
    calls = answer(spoken(APPROVED) + "\nOn second thoughts:\n" + last, [VERDICT], prefix="c").calls
    assert [json.loads(call.arguments)["verdict"] for call in calls] == ["APPROVED", "REJECTED"]


def test_bare_arguments_need_a_single_tool_on_offer() -> None:
    assert answer(json.dumps(APPROVED), [VERDICT, FINISH], prefix="c").calls == ()
