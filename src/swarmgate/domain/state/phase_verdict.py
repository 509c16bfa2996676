"""Decides what the judges of a whole phase have come to, and who of them is due.

A phase may be judged three times: before its first task (`gate`: can it be built and tested?), and after its last by
its tests (`tests`: do all pass over the last tree?) and by reviewers (`validation`: is it what its tasks promise?).
Of reviewers a majority decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from swarmgate.domain.events.event import PhaseStage
from swarmgate.domain.review.votes import Vote
from swarmgate.domain.state.state import PhaseRecord, Planning, State, TaskRecord, TaskStatus, tally_of


class Standing(StrEnum):
    """What the reviewers of a phase have come to."""

    DUE = "due"
    PASSED = "passed"
    REJECTED = "rejected"


def judged_stage(state: State) -> PhaseStage | None:
    """The stage at which the current phase is judged as it stands now; None where nobody is asked, or was.

    Settings that ask for nobody from now on take no verdict back: whoever was heard already still counts, and what was
    rejected the last time is judged anew by one at least.
    """
    if state.plan is None or state.planning is not Planning.APPROVED or state.finished:
        return None
    record = state.phase(state.current_phase)
    tasks = [state.task(task.id) for task in state.plan.phase(state.current_phase).tasks]
    if state.phase_settled(state.current_phase):
        built = [task for task in tasks if task.status is TaskStatus.COMPLETE]
        if built and not _tested(record) and (_untested(state, built) or _stands(record, "tests")):
            return "tests"
        return "validation" if built and (state.rules.validators or _stands(record, "validation")) else None
    untouched = not any(task.attempts for task in tasks)
    return "gate" if untouched and (state.rules.phase_gate or _stands(record, "gate")) else None


def _stands(record: PhaseRecord, stage: PhaseStage) -> bool:
    """Whether a verdict stands at a stage: one that counts, or a rejection that nobody has looked at again."""
    newest = record.newest(stage)
    return bool(record.verdicts(stage) or (newest and tally_of(newest).verdict is Vote.REJECT))


def _untested(state: State, built: Sequence[TaskRecord]) -> bool:
    """Whether tests of completed tasks did not run over the last tree.

    A task ran only what is related to it, or each ran its own suites, whatever the settings say now. Those of a task
    that stands alone have just run.
    """
    last = [each.last for each in built if each.last]
    apart = state.rules.phase_tests or any(each.suites for each in last)
    return any(each.related for each in last) or (apart and len(built) > 1)


def phase_commits(state: State, number: int) -> dict[str, str]:
    """The commits of a phase's tasks, those of work that was opened again too, oldest first, each with its task."""
    tasks = state.plan.phase(number).tasks if state.plan else ()
    made = [(a.seq, a.commit, task.id) for task in tasks for a in state.task(task.id).attempts if a.commit]
    return {commit: task for _, commit, task in sorted(made)}


def _tested(record: PhaseRecord) -> bool:
    """Whether the tests of the phase passed, or the user goes on without."""
    return "tests" in record.overruled or record.tally("tests").approve > 0


def phase_number(text: str) -> int:
    """The number of the phase that a user named, as `2`, `phase 2` or `phase-2`; 0 where it is the id of a task."""
    match = re.fullmatch(r"(?:phase[ -]?)?([1-9][0-9]{0,8})", text.strip(), re.IGNORECASE)
    return int(match[1]) if match else 0


def reviewers(state: State, stage: PhaseStage) -> int:
    """How many judge the current phase at a stage, those among them who were heard already."""
    heard = len(state.phase(state.current_phase).verdicts(stage))
    return max(heard, state.rules.validators if stage == "validation" else 1, 1)


def standing(state: State) -> Standing:
    """What the reviewers of the current phase have come to; PASSED where none are asked for."""
    stage, record = judged_stage(state), state.phase(state.current_phase)
    if stage is None or record.closed or stage in record.overruled:
        return Standing.PASSED
    if len(record.verdicts(stage)) < reviewers(state, stage):
        return Standing.DUE
    return Standing.PASSED if record.tally(stage).verdict is Vote.APPROVE else Standing.REJECTED
