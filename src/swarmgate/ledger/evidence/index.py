"""Lists which evidence files of each attempt exist, and where they are."""

from __future__ import annotations

from collections.abc import Iterator

from swarmgate.domain.evidence.report import FILES, Kind, PhaseEvidence, Piece, Recorded, Standing
from swarmgate.domain.state.state import State
from swarmgate.ledger.evidence.evidence import EvidenceStore
from swarmgate.ledger.files.folder import SwarmFolder


class EvidenceIndex:
    """Looks at the evidence of the newest goal. Reads; changes nothing.

    Args:
        folder: the project's.
        state: the fold.
        recorded: what the ledger claims.
    """

    def __init__(self, folder: SwarmFolder, state: State, recorded: Recorded) -> None:
        self._folder, self._state, self._recorded = folder, state, recorded
        self._store = EvidenceStore(folder)

    def pieces(self, task: str) -> dict[int, tuple[Piece, ...]]:
        """Of every attempt at a task, by its number: a piece of every kind."""
        numbers = (attempt.number for attempt in self._state.task(task).attempts)
        return {number: tuple(self._piece(task, number, kind) for kind in Kind) for number in numbers}

    def _piece(self, task: str, attempt: int, kind: Kind) -> Piece:
        claim = self._recorded.claims.get((task, attempt, kind))
        digest = claim.sha256 if claim else ""
        goal = 0 if digest else self._state.goals  # without a hash, the task of another goal is another task
        found = self._store.inspect(task, attempt, FILES[kind], digest, goal=goal)
        if claim is None and found.standing is Standing.MISSING:
            return Piece(kind=kind, standing=Standing.NOT_DUE)
        return Piece(kind=kind, standing=found.standing, path=found.path, recorded=bool(digest), problem=found.problem)

    def phases(self) -> Iterator[PhaseEvidence]:
        """The verdicts on whole phases, in order."""
        for each in (event for number in sorted(self._state.phases) for event in self._state.phase(number).reviews):
            task, name = f"phase-{each.phase}", f"{each.stage}-{each.number}.json"
            found = self._store.inspect(task, each.round, name, each.evidence)
            verdict = f"{each.stage} {each.round}.{each.number}"
            yield PhaseEvidence(phase=each.phase, verdict=verdict, **found._asdict())


def earlier_goals(folder: SwarmFolder) -> tuple[str, ...]:
    """Where the evidence of earlier goals lies, from the repository, oldest goal first."""
    places = [place for place in folder.history.glob("goal-*") if (place / "evidence").is_dir()]
    numbered = sorted((number, place) for place in places if (number := goal_number(place.name)))
    return tuple(folder.relative(place / "evidence") for _, place in numbered)


def goal_number(name: str) -> int:
    """The number in `goal-<n>`; 0 where it is no such name."""
    number = name.removeprefix("goal-")
    return int(number) if name.startswith("goal-") and number.isdecimal() and len(number) < len("1000000") else 0
