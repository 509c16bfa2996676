"""Debates on disk, a folder each under `.swarm/traces/debates/`: what is debated, every whole round, and how it ended.

    debate.json    round-1.json ... round-5.json    outcome.json or failure.json    allowance.json

Each file is written once, in one step and durably: a debate that was killed goes on after its last whole round.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from swarmgate.config import nearest
from swarmgate.domain.base import Frozen, Line
from swarmgate.domain.debate import Debate, DebateRecord, Outcome, Round
from swarmgate.domain.usage import Allowance
from swarmgate.errors import CouncilRefused, LedgerError
from swarmgate.ledger.folder import SwarmFolder, writing
from swarmgate.workspace.atomic import replace

R = TypeVar("R", bound=BaseModel)

_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,79}")
_ROUND = re.compile(r"round-([1-9][0-9]*)\.json")
_DEBATE, _OUTCOME, _FAILURE, _ALLOWANCE = "debate.json", "outcome.json", "failure.json", "allowance.json"


class Failure(Frozen):
    """Why a debate has no outcome, and never will."""

    why: Line


def unredacted(text: str) -> str:
    """For who reads only, or whose texts were redacted before."""
    return text


class DebateFiles:
    """The debates of one project; implements `council.debating.DebateStore`.

    Args:
        folder: the project's folder.
        redact: masks the secrets in a text; every text goes through it before it is written.
    """

    def __init__(self, folder: SwarmFolder, *, redact: Callable[[str], str] = unredacted) -> None:
        self._folder = folder
        self._redact = redact

    # --- what a debate at work needs ---

    def begin(self, debate: Debate) -> None:
        """Keeps what is debated; the same debate is taken up again.

        Raises:
            CouncilRefused: another debate has this id, or it is no id.
            LedgerError: the files cannot be read, or written.
        """
        clean = self._clean(debate)
        if not self._exists(debate.id):
            self._write(debate.id, _DEBATE, clean)
        elif self.debate(debate.id) != Debate.model_validate(clean):
            raise CouncilRefused(
                f"There is another debate with the id {debate.id}: it differs in {self._difference(clean)}.",
                hint=f"Give this one an id of its own; the other one: swarm debate show {debate.id}",
            )

    def rounds(self, debate_id: str) -> tuple[Round, ...]:
        """The whole rounds so far, in order.

        Raises:
            LedgerError: a file is damaged, or missing.
        """
        numbers = self._numbers(debate_id)
        for expected, number in enumerate(numbers, start=1):
            if number != expected:
                raise LedgerError(
                    f"{self._shown(debate_id, f'round-{expected}.json')} is missing, and round {number} is there.",
                    hint="Bring it back from a backup, or hold the debate anew.",
                )
        return tuple(self._round(debate_id, number) for number in numbers)

    def keep_round(self, debate_id: str, held: Round) -> None:
        """Keeps a whole round.

        Raises:
            CouncilRefused: that round is there already.
            LedgerWriteFailed: the disk refused.
        """
        if held.number != len(self._numbers(debate_id)) + 1:
            raise CouncilRefused(f"Round {held.number} of debate {debate_id} is not the next one.")
        self._write(debate_id, f"round-{held.number}.json", self._clean(held))

    def keep_outcome(self, outcome: Outcome) -> None:
        """Keeps how a debate ended; an earlier failure of it no longer counts."""
        self._write(outcome.id, _OUTCOME, self._clean(outcome))
        self._path(outcome.id, _FAILURE).unlink(missing_ok=True)

    def keep_failure(self, debate_id: str, why: str) -> None:
        """Keeps why there is no outcome."""
        self._write(debate_id, _FAILURE, self._clean(Failure(why=why)))

    def keep_allowance(self, debate_id: str, allowance: Allowance) -> None:
        """Keeps what the debate may use: it holds when it is taken up again, too."""
        self._write(debate_id, _ALLOWANCE, allowance.model_dump(mode="json"))

    # --- looking ---

    def ids(self) -> tuple[str, ...]:
        """The ids of all debates, sorted: those that swarmgate named by their time."""
        return tuple(sorted(path.parent.name for path in self._folder.debates.glob(f"*/{_DEBATE}")))

    def require(self, debate_id: str) -> None:
        """Insists that there is such a debate.

        Raises:
            CouncilRefused: there is none; the message names the nearest.
        """
        if not self._exists(debate_id):
            known = self.ids()
            close = nearest(debate_id, known)
            hint = f"Did you mean {close}?" if close else "They are listed by: swarm debate list"
            raise CouncilRefused(
                f"There is no debate {debate_id[:80]!r}.", hint=hint if known else "There is no debate here yet."
            )

    def debate(self, debate_id: str) -> Debate:
        """What is debated.

        Raises:
            CouncilRefused: there is no such debate.
            LedgerError: the file is damaged.
        """
        self.require(debate_id)
        debate = self._read(debate_id, _DEBATE, Debate)
        if debate.id != debate_id:
            raise self._damaged(debate_id, _DEBATE, f"it is that of the debate {debate.id}")
        return debate

    def load(self, debate_id: str) -> DebateRecord:
        """All that is kept of a debate; raises as `debate` and `rounds`."""
        debate, rounds = self.debate(debate_id), self.rounds(debate_id)
        outcome = self._read(debate_id, _OUTCOME, Outcome) if self._path(debate_id, _OUTCOME).exists() else None
        if outcome is not None and outcome.id != debate_id:
            raise self._damaged(debate_id, _OUTCOME, f"it is that of the debate {outcome.id}")
        failed = ""
        if outcome is None and self._path(debate_id, _FAILURE).exists():
            failed = self._read(debate_id, _FAILURE, Failure).why
        return DebateRecord(debate=debate, rounds=rounds, outcome=outcome, failed=failed)

    def allowance(self, debate_id: str) -> Allowance:
        """What the debate may use; no limits where none were kept."""
        if not self._path(debate_id, _ALLOWANCE).exists():
            return Allowance()
        return self._read(debate_id, _ALLOWANCE, Allowance)

    def check_id(self, debate_id: str) -> None:
        """Insists that a debate may have this id: it is the name of a folder.

        Raises:
            CouncilRefused: it may not.
        """
        if not _ID.fullmatch(debate_id):
            raise CouncilRefused(
                f"{debate_id[:100]!r} is no id of a debate: letters, digits, `.`, `_` and `-`, at most 80."
            )

    # --- inside ---

    def _path(self, debate_id: str, name: str) -> Path:
        self.check_id(debate_id)
        return self._folder.debates / debate_id / name

    def _shown(self, debate_id: str, name: str) -> str:
        return self._folder.relative(self._path(debate_id, name))

    def _exists(self, debate_id: str) -> bool:
        return self._path(debate_id, _DEBATE).exists()

    def _numbers(self, debate_id: str) -> list[int]:
        place = self._path(debate_id, _DEBATE).parent
        found = (_ROUND.fullmatch(path.name) for path in place.glob("round-*.json"))
        return sorted(int(each[1]) for each in found if each)

    def _round(self, debate_id: str, number: int) -> Round:
        name = f"round-{number}.json"
        held = self._read(debate_id, name, Round)
        if held.number != number:
            raise self._damaged(debate_id, name, f"it is that of round {held.number}")
        return held

    def _clean(self, record: BaseModel) -> Any:
        """The record as JSON-ready values, without secrets."""
        return mapped(record.model_dump(mode="json"), self._redact)

    def _difference(self, clean: dict[str, Any]) -> str:
        there = self.debate(clean["id"]).model_dump(mode="json")
        return ", ".join(f"`{key}`" for key in clean if clean[key] != there[key]) or "its words"

    def _write(self, debate_id: str, name: str, data: Any) -> None:
        path = self._path(debate_id, name)
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
            replace(path, text.encode("utf-8", "replace"))

    def _read(self, debate_id: str, name: str, kind: type[R]) -> R:
        path = self._path(debate_id, name)
        try:
            return kind.model_validate_json(path.read_bytes())
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise self._damaged(debate_id, name, f"`{place}`: {first['msg']}" if place else first["msg"]) from None
        except OSError as error:
            raise self._damaged(debate_id, name, error.strerror or str(error)) from error

    def _damaged(self, debate_id: str, name: str, why: str) -> LedgerError:
        return LedgerError(
            f"{self._shown(debate_id, name)} is damaged, or was changed by hand: {why}",
            hint="Bring the file back from a backup, or hold the debate anew.",
        )


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """The JSON-ready value with every text in it changed; the keys of objects stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [mapped(each, change) for each in value]
    if isinstance(value, dict):
        return {key: mapped(each, change) for key, each in value.items()}
    return value
