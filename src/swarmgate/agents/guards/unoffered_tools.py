"""Refuses and records calls of tools that a role is not offered at its step, up to a limit.

The architect writing project files outside of an escalated attempt is a case of its own (issue 4, "Hard blocks"): a
warning for the first two calls of a run, and the end of the turn with the third.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from swarmgate.agents.authority.authority import RULE
from swarmgate.agents.briefs.brief import Brief, cut, one_line
from swarmgate.agents.tools.tool_table import OFFERED, TOOLS
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.text.json_text import loaded
from swarmgate.domain.transitions.guard import SELF_CODING
from swarmgate.errors import SelfCodingBlocked
from swarmgate.llm.model import ToolCall

WRITING = frozenset({"write_file", "edit_file", "delete_file"})
"""The tools that change the project's files."""

_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[-.]")
_MOVES_A_TASK = re.compile(r"(?i)(?=(?:.*_)?tasks?(?:_|$))(?=.*(?:status|state|updat|complet|done|finish|close|mark))")
"""Names by which agents of other systems say themselves what became of a task."""

_NOT_MOVED = (
    "INVALID_TASK_STATE_TRANSITION: no call moves a task. It goes idle, coder_delegated, pre_check_passed, "
    "reviewer_run, tests_run, complete, one step at a time, by what swarmgate has measured. It is complete when all "
    "tests have run and passed, and the tree is committed. Do your part and end your turn."
)

_WARNINGS = 2
_LENGTH = 200


class UnofferedCalls:
    """The calls of one turn to tools that its role is not offered.

    Args:
        brief: says whose turn it is.
        on_guard: hears of each such call.
        self_coding: how many of the architect's own writes were refused in this run before the turn.
    """

    def __init__(self, brief: Brief, *, on_guard: Callable[[GuardNote], None], self_coding: int) -> None:
        self._brief = brief
        self._on_guard = on_guard
        self._self_coding = self_coding

    def refusal(self, call: ToolCall, problem: str) -> str:
        """The answer to the model about a call that was refused for `problem`.

        Raises:
            SelfCodingBlocked: it is the architect's third attempt in this run at writing files itself.
        """
        if call.name not in TOOLS and _MOVES_A_TASK.match(_BETWEEN_WORDS.sub("_", call.name)):
            self._note(
                RULE, Effect.REFUSED, f"called {cut(one_line(call.name), _LENGTH, '...')}, which no role has", call
            )
            return f"{_NOT_MOVED}\n{problem}"
        if call.name not in TOOLS or call.name in OFFERED[self._brief.role, self._brief.step]:
            return problem
        if self._brief.role != "architect" or call.name not in WRITING:
            self._note(RULE, Effect.REFUSED, f"called {call.name}, which it is not offered at this step", call)
            return problem
        self._self_coding += 1
        wrote = f"called {call.name} outside of an escalated attempt"
        if self._self_coding <= _WARNINGS:
            self._note(SELF_CODING, Effect.WARNED, f"{wrote}: warning {self._self_coding} of {_WARNINGS}", call)
            return (
                f"{problem}\nWarning {self._self_coding} of {_WARNINGS}: the architect writes no project files outside "
                "of an escalated attempt. Nothing was written. Leave the code to the coder; the next such call after "
                f"{_WARNINGS} warnings ends your turn."
            )
        self._note(SELF_CODING, Effect.STOPPED, f"{wrote}: call {self._self_coding} of this run", call)
        raise SelfCodingBlocked(
            f"SELF_CODING_BLOCK: the architect called {call.name}{_path(call)} at step {self._brief.step}, for the "
            f"{self._self_coding}. time in this run. It writes no project files outside of an escalated attempt; "
            "nothing was written, and its turn was stopped.",
            hint="look at the exchange in .swarm/traces/; run again, or set another model in [roles.architect]",
        )

    def _note(self, rule: str, effect: Effect, what: str, call: ToolCall) -> None:
        brief = self._brief
        detail = f"{what}{_path(call)}"
        self._on_guard(
            GuardNote(rule=rule, effect=effect, detail=detail, role=brief.role, step=brief.step, attempt=brief.attempt)
        )


def _path(call: ToolCall) -> str:
    """` (src/a.py)`: the file that a call names; empty when it names none."""
    try:
        path = loaded(call.arguments).get("path")
    except (ValueError, AttributeError):
        return ""
    return f" ({cut(one_line(path), _LENGTH, '...')})" if isinstance(path, str) and path.strip() else ""
