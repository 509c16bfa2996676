"""Answers `swarm hook EVENT` before the command line is parsed: a hook runs on every tool, and has to be quick.

Bad input ends in no traceback: where a program would go on if a hook broke, it is answered with a refusal instead.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from swarmgate.agent_hooks import request as requests
from swarmgate.agent_hooks.answer import Answer, refused
from swarmgate.errors import SwarmError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from swarmgate.agent_hooks.request import HookRequest

EVENTS = ("session-start", "pre-tool-use", "post-tool-use", "stop")
"""The events, as verbs; a session's order."""


def attempt(arguments: Sequence[str]) -> int | None:
    """The exit code of `swarm hook EVENT`, which is answered here; None: it is another command line.

    Args:
        arguments: those after the program's name.
    """
    if len(arguments) != 2 or arguments[0] != "hook" or arguments[1] not in EVENTS:  # noqa: PLR2004 - hook EVENT
        return None
    return answered(arguments[1])


def answered(event: str) -> int:
    """Answers an event of this process' standard input on its standard output and error; returns the exit code."""
    found = _answer(event)
    for stream, text in ((sys.stdout, found.stdout), (sys.stderr, found.stderr)):
        if text:
            stream.buffer.write(text.encode("utf-8", "replace"))
            stream.flush()
    return found.exit_code


def _answer(event: str) -> Answer:
    try:
        return _asked(event)(requests.parse(requests.read()))
    except SwarmError as error:
        return _failed(event, " ".join(filter(None, (error.message, error.hint))))
    except Exception as error:  # noqa: BLE001 - a bug must not open the door: a program goes on when a hook breaks
        return _failed(event, f"a bug in swarmgate: {type(error).__name__}: {error}")


def _asked(event: str) -> Callable[[HookRequest], Answer]:
    """What answers an event. Each imports what it needs, when it is asked."""
    match event:
        case "post-tool-use":
            from swarmgate.agent_hooks.events import post_tool_use  # noqa: PLC0415 - late: see above

            return post_tool_use.answer
        case "pre-tool-use":
            from swarmgate.agent_hooks.events import pre_tool_use  # noqa: PLC0415 - late: see above

            return pre_tool_use.answer
        case "stop":
            from swarmgate.agent_hooks.events import stop  # noqa: PLC0415 - late: see above

            return stop.answer
        case _:
            from swarmgate.agent_hooks.events import session_start  # noqa: PLC0415 - late: see above

            return session_start.answer


def _failed(event: str, why: str) -> Answer:
    """What is answered where nothing could be judged.

    A tool is refused, a session is held a bounded number of times, and what only tells says that it could not.
    """
    if event == "pre-tool-use":
        return refused("", f"swarmgate could not judge this call, so it is not made: {why}")
    if event == "stop":
        from swarmgate.agent_hooks.events import stop  # noqa: PLC0415 - late: see above

        return stop.unjudged(why, os.getcwd())  # noqa: PTH109 - a text
    return Answer(stderr=f"swarmgate: {why}\n", exit_code=1)
