"""The record of a scripted session: a project, participants with a script, and the commands to run."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Rule = dict[str, Any]

USED = {"prompt_tokens": 100, "completion_tokens": 20}
"""What every answer reports: counted prompts would change with each word of a prompt and with the tools on offer."""

MUCH = {"prompt_tokens": 8_000, "completion_tokens": 20}
"""The same of voices that use up a budget: so much that no estimate of a prompt decides which call is the last one, and
so little that two calls are no turn too long for `[council] tokens`."""

DEAD = {"SWARM_PROVIDERS__LOCAL__BASE_URL": "http://127.0.0.1:9/v1"}
"""Variables with which nobody listens where the models should be."""

DOWN: Rule = {"fault": {"kind": "500"}}
"""A reply of an endpoint that fails for ever; `max_retries` of the project is 0."""


@dataclass(frozen=True, slots=True)
class Cut:
    """When a command is ended from outside: as soon as a request with these headers came in, whose answer hangs."""

    headers: Mapping[str, str]
    by: signal.Signals = signal.SIGKILL


@dataclass(frozen=True, slots=True)
class Call:
    """One command as it is typed, in the project's folder.

    `{id}` in `argv` is the id that the session printed last, `{in}` the folder of its files, `{out}` the one where
    pages and exports go. `exits` is the code that the session is meant to have here. What is typed at a terminal is
    `(prompt, line)`; such a command is played without `--json` alone.
    """

    argv: tuple[str, ...]
    exits: int = 0
    cut: Cut | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    typed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """A hand edit of a file of the project before the next command; `{id}` in its path as in a call."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Session:
    """Commands against one project and one script.

    `files` lie in `{in}`, `settings` are added to the project's, and answers come in the order of `seats`.
    """

    name: str
    rules: tuple[Rule, ...]
    calls: tuple[Call | Edit, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    settings: str = ""
    seats: tuple[str, ...] = ()


def swarm(*argv: str, exits: int = 0, environ: Mapping[str, str] | None = None) -> Call:
    """A command that runs to its end."""
    return Call(argv, exits, environ=environ or {})


def cut(*argv: str, by: signal.Signals = signal.SIGKILL, **headers: str) -> Call:
    """A command that is killed, or interrupted, once the request with these headers hangs."""
    exits = 130 if by is signal.SIGINT else -int(by)
    return Call(argv, exits, Cut({key.upper(): value for key, value in headers.items()}, by))


def looks(verb: str, *more: str) -> tuple[Call, ...]:
    """What everybody asks of a record afterwards, and of all of them."""
    return (swarm(verb, "show", "{id}"), swarm(verb, "list"), *(swarm(verb, "list", each) for each in more))


def rule(
    step: str, *replies: str | Rule | list[Rule], role: str = "participant", usage: Rule = USED, **match: str
) -> Rule:
    """Replies of who is meant: texts, tool calls, or replies as the script has them."""
    turns = []
    for each in replies:
        reply = {"text": each} if isinstance(each, str) else {"tool_calls": each} if isinstance(each, list) else each
        turns.append(reply if "fault" in reply else {"usage": usage, **reply})
    return {"match": {"role": role, "step": step, **match}, "replies": turns}


def hangs(of: Rule, **match: str) -> Rule:
    """The same rule for a narrower match, whose first answer never comes."""
    return _spoiled(of, {"kind": "hang", "times": 1}, match)


def fails(of: Rule, times: int = 1, **match: str) -> Rule:
    """The same rule for a narrower match, whose endpoint fails so many times before it answers."""
    return _spoiled(of, {"kind": "500", "times": times}, match)


def _spoiled(of: Rule, fault: Rule, match: Rule) -> Rule:
    """With a fault in the first turn of a conversation alone: a voice that is asked once more is answered."""
    replies = of["replies"]
    return {"match": {**of["match"], **match}, "replies": [{"fault": fault}, *replies, replies[-1]]}


def call(tool: str, **arguments: Any) -> Rule:
    """A tool call."""
    return {"name": tool, "arguments": arguments}


def fenced(prose: str, data: Any) -> str:
    """Prose, and one JSON object that ends it."""
    return f"{prose}\n```json\n{json.dumps(data)}\n```"
