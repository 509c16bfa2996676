"""What a scripted endpoint can and cannot do: the features that it refuses, and its answers to swarmgate's probes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from swarmgate.errors import UsageError
from swarmgate.testing.script import Call, Reply

LACKING = ("tools", "parallel_tools", "stream", "json_schema", "system")
"""What may be named as lacking. `parallel_tools`: of several calls only the first is given; the others are refused."""


def checked(lacks: Collection[str]) -> frozenset[str]:
    """The names, if all are known.

    Raises:
        UsageError: one is not.
    """
    if unknown := sorted(set(lacks) - set(LACKING)):
        raise UsageError(f"a scripted server cannot lack {unknown[0]!r}; known: {', '.join(LACKING)}")
    return frozenset(lacks)


def refusal(body: Mapping[str, Any], lacks: Collection[str]) -> str:
    """Why a request is answered 400; empty when it asks for nothing that is lacking."""
    messages = [each for each in body.get("messages", ()) if isinstance(each, dict)]
    asked = {
        "tools": bool(body.get("tools")) and "this model does not support tools",
        "stream": bool(body.get("stream")) and "streaming is not supported by this endpoint",
        "json_schema": bool(body.get("response_format")) and "response_format is not supported by this model",
        "system": any(each.get("role") == "system" for each in messages) and "System role not supported",
    }
    return next((why for feature, why in asked.items() if feature in lacks and why), "")


def probe_reply(headers: Mapping[str, str | list[str]]) -> Reply | None:
    """What a capable model answers to a probe; None when the request is none."""
    if headers.get("ROLE") != "probe":
        return None
    if headers.get("STEP") == "tools":
        return Reply(tool_calls=tuple(Call(name="report_number", arguments={"number": n}) for n in (1, 2)))
    said = {"system": "PLUM", "json_schema": '{"plum_count": 3, "plum_colour": "blue"}'}
    return Reply(text=said.get(str(headers.get("STEP")), "?"))
