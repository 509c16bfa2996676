"""The Git AI authorship log of a task's commit: which of its lines which role wrote, with which model.

Form: Git AI Standard v3.0.0 (https://github.com/git-ai-project/git-ai, specs/git_ai_standard_v3.0.0.md), with sessions:
one for each role that wrote in the attempt. Lines of which that is not known get no entry.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import groupby

from swarmgate.domain.events.event import AttemptKind
from swarmgate.domain.review.change import ChangeSet
from swarmgate.domain.state.state import State, current

NOTES_REF = "refs/notes/ai"
"""Where the standard wants the log, as the note of its commit."""

_SCHEMA = "authorship/3.0.0"
_TOOL = "swarmgate"
_DIGITS = 14
"""Hex digits of the ids of sessions and traces."""


def authorship_log(state: State, change: ChangeSet, *, commit: str, prefix: str = "") -> str:
    """The log of the running attempt's commit; empty where no line has a known author.

    Of an attempt that the user vouched for nobody is said to have written it.

    Args:
        state: the fold at the line that the commit stands on.
        change: what the commit changes.
        commit: its id.
        prefix: the project's folder in the work tree, with `/` at its end; empty at the top.
    """
    _, record, attempt = current(state)
    if attempt.kind is AttemptKind.OVERRIDE:
        return ""
    own = "architect" if attempt.kind is AttemptKind.ESCALATED else "coder"
    models = {turn.role: turn.model for turn in record.turns if turn.attempt == attempt.number}
    place = f"{state.open}/{attempt.number}"
    sessions, lines = {}, []
    for file in change.files:
        role = "test_engineer" if file.path in attempt.tests else own
        if not file.added_lines or role not in models:
            continue
        conversation = f"{attempt.base}/{place}/{role}"
        session, trace = f"s_{_hex(f'{_TOOL}:{conversation}')}", f"t_{_hex(f'{commit}:{role}')}"
        sessions[session] = {"agent_id": {"tool": _TOOL, "id": conversation, "model": models[role]}}
        lines += [_quoted(prefix + file.path), f"  {session}::{trace} {','.join(_ranges(file.added_lines))}"]
    if not sessions:
        return ""
    metadata = {"schema_version": _SCHEMA, "base_commit_sha": commit, "prompts": {}, "sessions": sessions}
    return "\n".join((*lines, "---", json.dumps(metadata, indent=2, ensure_ascii=False), ""))


def _hex(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _quoted(path: str) -> str:
    return f'"{path}"' if any(char.isspace() for char in path) else path


def _ranges(numbers: Iterable[int]) -> Iterator[str]:
    """Numbers as the standard writes them: `1-4,9`."""
    for _, group in groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        yield str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}"
