"""The scripted server in the APIs of Anthropic, OpenAI (responses) and Gemini: the same script, other words."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from swarmgate.testing import ScriptedServer

SCRIPT = [
    {
        "match": {"contains": "begin"},
        "replies": [
            {"text": "first", "tool_calls": [{"name": "look", "arguments": {"path": "a.py"}}]},
            {"text": "second"},
        ],
    }
]
TOOL = {"name": "look", "input_schema": {"type": "object"}}
ASKED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "messages": (
        "/v1/messages",
        {"model": "m", "tools": [TOOL], "messages": [{"role": "user", "content": [{"type": "text", "text": "begin"}]}]},
        {
            "messages": [
                {"role": "user", "content": "begin"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "look", "input": {}}]},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "saw"}]}
                    ],
                },
            ]
        },
    ),
    "responses": (
        "/v1/responses",
        {
            "model": "m",
            "tools": [{"type": "function", "name": "look"}],
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "begin"}]}],
        },
        {
            "input": [
                {"type": "message", "role": "user", "content": "begin"},
                {"type": "reasoning", "summary": []},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "first"}]},
                {"type": "function_call", "call_id": "1", "name": "look", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "1", "output": "saw"},
            ]
        },
    ),
    "generateContent": (
        "/v1beta/models/m:{}enerateContent",
        {
            "tools": [{"functionDeclarations": [{"name": "look"}]}],
            "contents": [{"role": "user", "parts": [{"text": "begin"}]}],
        },
        {
            "contents": [
                {"role": "user", "parts": [{"text": "begin"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": "saw"}}}]},
            ]
        },
    ),
}


def ask(server: ScriptedServer, path: str, body: dict[str, Any]) -> str:
    url = server.base_url.removesuffix("/v1") + path
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310 - our own
    with urllib.request.urlopen(request, timeout=5) as response:  # noqa: S310 - our own server
        return str(response.read().decode())


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("streams", [False, True])
def test_a_script_is_played_in_every_dialect(name: str, *, streams: bool) -> None:
    path, body, later = ASKED[name]
    path = path.format("streamG" if streams else "g")
    with ScriptedServer(SCRIPT) as server:
        more = {"stream": True} if streams and name != "generateContent" else {}
        first = ask(server, path, {**body, **more})
        second = ask(server, path, {**body, **later, **more})
        assert [each.tools for each in server.requests] == [("look",), ("look",)]
        assert "saw" in str(server.requests[1].messages[-1]["content"])
    assert "first" in first
    assert "look" in first
    assert "a.py" in first
    assert "second" in second
    assert "first" not in second
    assert ("data: " in first) == streams


def test_faults_come_through_as_they_are() -> None:
    with ScriptedServer([{"match": {}, "replies": [{"fault": {"kind": "529"}}]}]) as server:
        with pytest.raises(urllib.error.HTTPError, match="529"):
            ask(server, *ASKED["messages"][:2])
        with pytest.raises(urllib.error.HTTPError, match="404"):
            ask(server, "/v2/messages", {})
