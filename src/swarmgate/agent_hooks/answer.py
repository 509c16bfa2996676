"""Words what a hook answers: an exit code, with text for the model on stderr or JSON on stdout.

Claude Code and Codex take exit code 2 with a text on stderr as a refusal of a tool, as a hold of a session, and as
findings. Gemini CLI takes it for a hook that failed, and hides the result of the tool; its events are answered in JSON.
"""

from __future__ import annotations

import json
from typing import NamedTuple

LONGEST = 9_000
"""Characters of a text for a model: Claude Code cuts at 10,000."""
REFUSED = 2
"""The exit code by which a tool is refused, a session is held, and findings are told."""
_GEMINI = frozenset({"BeforeTool", "AfterTool", "AfterAgent"})
"""The events of Gemini CLI."""


class Answer(NamedTuple):
    """What is printed, and the exit code."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int = 0


def refused(event: str, text: str) -> Answer:
    """The tool is not run, or the session does not end; the model reads why."""
    if event in _GEMINI:
        return Answer(stdout=json.dumps({"decision": "deny", "reason": bounded(text)}) + "\n")
    return Answer(stderr=f"{bounded(text)}\n", exit_code=REFUSED)


def findings(event: str, text: str) -> Answer:
    """The model reads a text after a tool ran; no text: nothing is said."""
    if not text:
        return Answer()
    return context(event, text) if event in _GEMINI else refused(event, text)


def context(event: str, text: str) -> Answer:
    """The model reads a text beside what it has; nothing is refused."""
    inner = {"hookEventName": event, "additionalContext": bounded(text)}
    return Answer(stdout=json.dumps({"hookSpecificOutput": inner}) + "\n")


def told(text: str) -> Answer:
    """The person reads a text, and the session goes on as it would."""
    return Answer(stdout=json.dumps({"systemMessage": bounded(text)}) + "\n")


def bounded(text: str) -> str:
    """The text, cut at a line where it is longer than a program takes."""
    if len(text) <= LONGEST:
        return text
    kept = text[:LONGEST].rpartition("\n")[0] or text[:LONGEST]
    return f"{kept}\n[{len(text) - len(kept)} characters left out; all of it: swarm gates run]"
