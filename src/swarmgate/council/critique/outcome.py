"""What the iterations of a critique come to, and how its record is begun, closed and read again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from swarmgate.council.records import PART_OF, Manifest, Records
from swarmgate.domain.critique import Critique, CritiqueOutcome, CritiqueRecord, Iteration
from swarmgate.domain.critique_rules import best, improvement, unchanged, version_of
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilFailed

RESULT = "result.json"
"""The name under which the outcome of a critique that is over is sealed."""

End = Literal["passed", "iterations", "timeout", "unchanged"]

_TIME_IS_UP = "the time of the whole critique was up"


def manifest_of(critique: Critique, *, part_of: str = "") -> Manifest:
    """How the record of a critique begins; `part_of` is the record that it is made for, kept in `more`."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    more = {PART_OF: part_of} if part_of else {}
    request = critique.model_dump(mode="json")
    return Manifest(id=critique.id, pattern="critique", request=request, created_at=now, more=more)


def record_of(records: Records, id: str) -> CritiqueRecord:  # noqa: A002 - the field's name
    """All that is kept of a critique; one whose time was up has the outcome so far, if a version was judged.

    Raises:
        CouncilRefused: there is none of that id.
        LedgerError: what is kept was changed by hand, or is damaged; the message names what.
    """
    manifest = records.manifest(id, "critique")
    critique = Critique.model_validate(manifest.request)
    done = records.rounds(id, Iteration)
    outcome, status = records.sealed(id, RESULT, CritiqueOutcome), manifest.status
    if outcome is None and status == "paused" and best(done):
        outcome = outcome_of(critique, done, "timeout", used=manifest.usage)
    elif outcome is not None:
        status = "complete"  # killed before the last word, perhaps
    return CritiqueRecord(
        critique=critique,
        status="open" if status == "prepared" else status,
        why=manifest.why,
        iterations=done,
        outcome=outcome,
    )


def end_of(critique: Critique, done: Sequence[Iteration]) -> End | None:
    """Why there is no further iteration after these; None: there is one."""
    last = done[-1].evaluation if done else None
    if last and last.passed:
        return "passed"
    if unchanged(done):
        return "unchanged"
    return "iterations" if len(done) >= critique.iterations else None


def outcome_of(critique: Critique, done: Sequence[Iteration], end: End, *, used: Usage) -> CritiqueOutcome:
    """The best version.

    Args:
        critique: what was asked for.
        done: its whole iterations.
        end: why there is no further one.
        used: by all of it.

    Raises:
        CouncilFailed: no version was judged.
    """
    top = best(done)
    if top is None or top.evaluation is None:
        why = "; ".join(dict.fromkeys(each.failed for each in done))
        late = f"; its {critique.whole_s:g} s are over" if end == "timeout" else ""
        raise CouncilFailed(
            f"no version was judged in {len(done)} whole iterations{late}{f': {why}' if why else ''}",
            hint="what was made so far is on record"
            if late
            else "look at the model of the evaluator, and at the programs that commands and gates need",
        )
    return CritiqueOutcome(
        id=critique.id,
        best=top.number,
        version=version_of(done, top.number),
        mean=top.evaluation.mean,
        passed=top.evaluation.passed,
        ended_by=end,
        improvement=improvement(done),
        iterations=len(done),
        usage=used,
        seconds=round(sum(each.seconds for each in done), 4),
    )


def paused(records: Records, critique: Critique, used: Usage) -> None:
    """Puts on record that the time of this sitting was up: nothing is sealed, and another sitting goes on."""
    records.change(critique.id, status="paused", why=_TIME_IS_UP, usage=used)


def completed(records: Records, outcome: CritiqueOutcome) -> CritiqueOutcome:
    """The outcome, once the manifest says that there is one: a kill may have come in between.

    Where an iteration failed, the same request is not answered from this record: what failed may not fail again.
    """
    if records.manifest(outcome.id).status != "complete":
        failed = any(each.failed for each in records.rounds(outcome.id, Iteration))
        records.change(
            outcome.id,
            status="complete",
            why="",
            request_hash="" if failed else None,
            usage=outcome.usage,
            seconds=outcome.seconds,
        )
    return outcome
