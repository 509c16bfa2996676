"""Renders a dispatch as JSON-ready data and as lines for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from swarmgate.council.debate.view import cost
from swarmgate.council.dispatch.model import DispatchedReply, DispatchResult


def as_json(result: DispatchResult) -> dict[str, Any]:
    """The result, with how many tasks have an output."""
    return {**result.model_dump(mode="json"), "succeeded": result.succeeded, "summary": result.summary}


def lines(result: DispatchResult, words: Mapping[str, list[str]], *, tasks: bool = False) -> list[str]:
    """The dispatch for people.

    Args:
        result: the dispatch.
        words: what the participants of its debate said in the last round, as prose and vote.
        tasks: with what was asked.
    """
    rounds = f" of at most {result.rounds} rounds" if result.rounds else ""
    spent = cost(result.usage, result.seconds)
    lines = [f"Dispatch {result.id}: {result.mode}{rounds}, {result.summary} ({spent})"]
    if result.question:
        lines += [f"Question: {result.question}"]
    for number, reply in enumerate(result.replies):
        lines += ["", *_reply(reply, result.tasks[number].text if tasks else "", words.get(reply.name))]
    if outcome := result.outcome:
        lines += ["", f"{outcome.verdict}, by {outcome.decided_by}; all of it: swarm debate show {outcome.id}"]
        lines += [outcome.synthesis.summary] if outcome.synthesis else []
    if result.exhausted or result.failed:
        lines += ["", f"It ended early: {result.exhausted}" if result.exhausted else f"It failed: {result.failed}"]
    if not result.finished:
        lines += ["", "It is going on, or was ended before it was done."]
    return lines


def _reply(reply: DispatchedReply, asked: str, words: list[str] | None) -> list[str]:
    model = f"{reply.model}, " if reply.model else ""
    lines = [f"[{reply.number}] {reply.name} ({model}{cost(reply.usage, reply.seconds)})"]
    lines += [f"> {line}" for line in asked.splitlines()]
    if reply.not_run:
        return [*lines, f"Not run: {reply.not_run}"]
    if reply.failed:
        tries = f" {reply.tries} times" if reply.tries > 1 else ""
        return [*lines, f"FAILED{tries}: {reply.failed}"]
    return [*lines, *(words or [reply.text]), *([f"[... {reply.cut:,} characters left out ...]"] if reply.cut else [])]
