"""Debates on disk, a folder each under `.swarm/traces/debates/`: what is debated, every whole round, and how it ended.

    debate.json    round-1.json ... round-5.json    outcome.json or failure.json    allowance.json

Each file is written once, in one step and durably: a debate that was killed goes on after its last whole round. Only a
round in which every voice failed is held again, and replaced.

Debate, rounds and outcome are a chain: `before` in a file is the SHA-256 of the file before it. What is read is checked
and recounted (`domain.recount`), so that a file changed by hand is noticed. Whoever changes all of them, hashes too, is
found out by who kept the newest hash elsewhere (`load`, `head`): the loop does, in the ledger; a debate by itself is as
trustworthy as its folder.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from swarmgate.config import nearest
from swarmgate.domain.base import Frozen, Line
from swarmgate.domain.debate import Debate, DebateRecord, Outcome, Round
from swarmgate.domain.recount import outcome_problem, round_problem
from swarmgate.domain.usage import Allowance
from swarmgate.errors import CouncilRefused, LedgerError
from swarmgate.journal.writing import writing
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.workspace.atomic import replace
from swarmgate.workspace.folders import make

R = TypeVar("R", bound=BaseModel)

_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,79}")
_ROUND = re.compile(r"round-([1-9][0-9]*)\.json")
_DEBATE, _OUTCOME, _FAILURE, _ALLOWANCE = "debate.json", "outcome.json", "failure.json", "allowance.json"
_BEFORE = "before"

_NAMES = frozenset(
    {
        "id",
        "seat",
        "model",
        "name",
        "participant",
        "role",
        "folder",
        "mode",
        "task",
        "about",
        "order",
        "cut",
        "claim",
        "nearest",
    }
    | {"cites", "condensed", "prompt_hash", "started_at", "stance", "vote", "verdict", "decided_by"}
)
"""Fields that name something: they stay as they are, whatever they look like. In all others secrets are masked."""


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
        self._chains: dict[str, list[str]] = {}

    # --- what a debate at work needs ---

    def begin(self, debate: Debate) -> None:
        """Keeps what is debated; the same debate is taken up again.

        Raises:
            CouncilRefused: another debate has this id, or it is no id.
            LedgerError: the files cannot be read, or written.
        """
        clean = self._clean(debate)
        if not self._exists(debate.id):
            self._chains[debate.id] = [self._write(debate.id, _DEBATE, clean)]
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
        return self.load(debate_id).rounds

    def keep_round(self, debate_id: str, held: Round) -> None:
        """Keeps a whole round, in the place of one in which every voice failed.

        Raises:
            CouncilRefused: that round is there already.
            LedgerError: a file is damaged.
            LedgerWriteFailed: the disk refused.
        """
        chain = self._chain(debate_id)
        if held.number == len(chain) - 1 and all(
            each.failed for each in self._round(debate_id, held.number)[0].speeches
        ):
            chain = chain[:-1]
        if held.number != len(chain) or self._path(debate_id, _OUTCOME).exists():
            raise CouncilRefused(f"Round {held.number} of debate {debate_id} is not the next one.")
        self._add(debate_id, f"round-{held.number}.json", held, chain)

    def keep_outcome(self, outcome: Outcome) -> None:
        """Keeps how a debate ended; an earlier failure of it no longer counts."""
        self._add(outcome.id, _OUTCOME, outcome, self._chain(outcome.id))
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
        debate = self._read(debate_id, _DEBATE, Debate)[0]
        if debate.id != debate_id:
            raise self._damaged(debate_id, _DEBATE, f"it is that of the debate {debate.id}")
        return debate

    def load(self, debate_id: str, *, head: str | None = None) -> DebateRecord:
        """All that is kept of a debate, checked and recounted.

        Args:
            debate_id: of the debate.
            head: what `head` was after the newest file was kept; None: nobody knows.

        Raises:
            CouncilRefused: there is no such debate.
            LedgerError: a file is damaged or missing, or does not follow from those before it, or is not `head`.
        """
        debate, chain = self.debate(debate_id), [self._digest(debate_id, _DEBATE)]
        rounds: list[Round] = []
        for number in self._numbers(debate_id):
            held, before, digest = self._round(debate_id, number)
            name = f"round-{number}.json"
            self._check(debate_id, name, before == chain[-1], round_problem(debate, rounds, held))
            rounds.append(held)
            chain.append(digest)
        outcome = None
        if self._path(debate_id, _OUTCOME).exists():
            outcome, before, digest = self._read(debate_id, _OUTCOME, Outcome)
            if outcome.id != debate_id:
                raise self._damaged(debate_id, _OUTCOME, f"it is that of the debate {outcome.id}")
            self._check(debate_id, _OUTCOME, before == chain[-1], outcome_problem(debate, rounds, outcome))
            chain.append(digest)
        if head is not None and head != chain[-1]:
            name = _OUTCOME if outcome else f"round-{len(rounds)}.json" if rounds else _DEBATE
            raise self._damaged(debate_id, name, "it is not what the ledger has on record as the newest")
        self._chains[debate_id] = chain
        failed = ""
        if outcome is None and self._path(debate_id, _FAILURE).exists():
            failed = self._read(debate_id, _FAILURE, Failure)[0].why
        return DebateRecord(debate=debate, rounds=tuple(rounds), outcome=outcome, failed=failed)

    def head(self, debate_id: str) -> str:
        """The SHA-256, in hex, of the newest file of debate, rounds and outcome: as it was written, or read first."""
        return self._chain(debate_id)[-1]

    def allowance(self, debate_id: str) -> Allowance:
        """What the debate may use; no limits where none were kept."""
        if not self._path(debate_id, _ALLOWANCE).exists():
            return Allowance()
        return self._read(debate_id, _ALLOWANCE, Allowance)[0]

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
        """The numbers of the rounds, from 1 and without a gap."""
        place = self._path(debate_id, _DEBATE).parent
        found = (_ROUND.fullmatch(path.name) for path in place.glob("round-*.json"))
        numbers = sorted(int(each[1]) for each in found if each)
        for expected, number in enumerate(numbers, start=1):
            if number != expected:
                raise LedgerError(
                    f"{self._shown(debate_id, f'round-{expected}.json')} is missing, and round {number} is there.",
                    hint="Bring it back from a backup, or hold the debate anew.",
                )
        return numbers

    def _round(self, debate_id: str, number: int) -> tuple[Round, str, str]:
        name = f"round-{number}.json"
        held, before, digest = self._read(debate_id, name, Round)
        if held.number != number:
            raise self._damaged(debate_id, name, f"it is that of round {held.number}")
        return held, before, digest

    def _check(self, debate_id: str, name: str, follows: bool, problem: str) -> None:  # noqa: FBT001 - one's own
        if problem or not follows:
            raise self._damaged(debate_id, name, problem or "it does not follow the file before it")

    def _chain(self, debate_id: str) -> list[str]:
        """The SHA-256 of each file so far; from memory, so that no file is taken for another that was put there."""
        if debate_id not in self._chains:
            self.load(debate_id)
        return self._chains[debate_id]

    def _add(self, debate_id: str, name: str, record: BaseModel, chain: list[str]) -> None:
        digest = self._write(debate_id, name, {_BEFORE: chain[-1], **self._clean(record)})
        self._chains[debate_id] = [*chain, digest]

    def _clean(self, record: BaseModel) -> Any:
        """The record as JSON-ready values, without secrets."""
        return masked(record.model_dump(mode="json"), self._redact)

    def _difference(self, clean: dict[str, Any]) -> str:
        there = self.debate(clean["id"]).model_dump(mode="json")
        return ", ".join(f"`{key}`" for key in clean if clean[key] != there[key]) or "its words"

    def _write(self, debate_id: str, name: str, data: Any) -> str:
        """Writes a file; gives its SHA-256."""
        path = self._path(debate_id, name)
        content = f"{json.dumps(data, ensure_ascii=False, indent=1)}\n".encode("utf-8", "replace")
        with writing(path):
            make(path.parent)
            replace(path, content)
        return hashlib.sha256(content).hexdigest()

    def _digest(self, debate_id: str, name: str) -> str:
        return hashlib.sha256(self._path(debate_id, name).read_bytes()).hexdigest()

    def _read(self, debate_id: str, name: str, kind: type[R]) -> tuple[R, str, str]:
        """What a file holds, the SHA-256 of the one before it as it says, and its own."""
        path = self._path(debate_id, name)
        try:
            content = path.read_bytes()
            data = json.loads(content)
            before = str(data.pop(_BEFORE, "")) if isinstance(data, dict) and kind in (Round, Outcome) else ""
            return kind.model_validate_json(json.dumps(data)), before, hashlib.sha256(content).hexdigest()
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise self._damaged(debate_id, name, f"`{place}`: {first['msg']}" if place else first["msg"]) from None
        except (ValueError, RecursionError) as error:
            raise self._damaged(debate_id, name, f"it is no JSON ({error})") from None
        except OSError as error:
            raise self._damaged(debate_id, name, error.strerror or str(error)) from error

    def _damaged(self, debate_id: str, name: str, why: str) -> LedgerError:
        return LedgerError(
            f"{self._shown(debate_id, name)} is damaged, or was changed by hand: {why}",
            hint="Bring the file back from a backup, or hold the debate anew.",
        )


def masked(value: Any, redact: Callable[[str], str], *, names: Collection[str] = _NAMES) -> Any:
    """The JSON-ready value with secrets masked in its free text; the keys of objects stay, and so does what names.

    Args:
        value: of a record.
        redact: masks the secrets in a text.
        names: the fields that name something, or several.
    """
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [masked(each, redact, names=names) for each in value]
    if isinstance(value, dict):
        return {
            key: each if key in names and _names(each) else masked(each, redact, names=names)
            for key, each in value.items()
        }
    return value


def _names(value: Any) -> bool:
    """Whether that is a name, or several: not whole records."""
    several = value if isinstance(value, list) else [value]
    return all(isinstance(each, str) for each in several)
