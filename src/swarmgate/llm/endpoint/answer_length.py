"""Computes the maximum length of an answer where the user sets none, or after one was cut off. Pure."""

from __future__ import annotations

from swarmgate.domain.usage import Usage

_WRITING = {"architect", "coder", "test_engineer"}
"""Roles whose answers hold files, or a whole plan."""
_FILES, _WORDS = 32_768, 16_384
"""Tokens of an answer that holds files, and of any other; thinking counts, and takes most of it."""
_SHARE = 5
"""The part of the window that a conversation leaves to the answer (`agents.conversation`): a fifth."""
_LEAST = 1_024
"""Tokens; a model that thinks needs some before it writes a word."""
_NEARLY = 0.95
"""The part of a limit at which it counts as reached: endpoints stop a little before it."""
WINDOW = 128_000
"""Tokens that a model is taken to hold where nobody says."""


def longest_answer(role: str, window: int | None) -> int:
    """The built-in longest answer of a role in tokens, for a model of this window."""
    return min(_FILES if role in _WRITING else _WORDS, max((window or WINDOW) // _SHARE, _LEAST))


def where_cut(usage: Usage, *, asked: int | None, written: bool, window: int | None) -> tuple[str, str]:
    """Where an answer ended that was cut off by its length, and what to set: its limit, or the window.

    Args:
        usage: what the call used, as far as that is known.
        asked: the longest answer that was asked for; None: the endpoint's own.
        written: whether the user wrote that.
        window: of the model, in tokens; None: unknown.
    """
    if window and usage.tokens >= window * _NEARLY and not (asked and usage.completion_tokens >= asked):
        hint = "use a model, or serve it, with a larger window, or split the task"
        return f"at the end of the window of {window:,} tokens", hint
    if asked and usage.completion_tokens >= asked * _NEARLY:
        named = f"max_tokens = {asked:,} of the role" if written else f"{asked:,} tokens, the built-in longest answer"
        return f"at {named}", "set a higher max_tokens in [roles.ROLE]; a model that thinks needs more"
    if not usage.completion_tokens:
        asked_for = f"max_tokens = {asked:,}" if asked else "max_tokens"
        return f"at {asked_for}, or at the end of the window", "set max_tokens and context_tokens in [roles.ROLE]"
    spent = f"after {usage.completion_tokens:,} tokens, by a limit of the endpoint's own"
    return spent, "the window that it serves may be full: look at `swarm doctor --models`, and set context_tokens"
