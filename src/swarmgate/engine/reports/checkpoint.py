"""Shows the checkpoint of a phase in a few lines: what was made, in which files, and what comes next."""

from __future__ import annotations

from collections.abc import Iterable

from swarmgate.domain.base import Frozen
from swarmgate.domain.state.state import State, TaskStatus
from swarmgate.ledger.context.redaction import without_keys

_NAMED = 12
"""As many tasks, and as many files, are named on the terminal; the page of the phase has all."""


class Checkpoint(Frozen):
    """The end of a phase, for the user who approves it.

    `created` are the titles of its completed tasks, `files` what they changed, `skipped` the titles of those that were
    given up. `next_phase` is 0 and `next_name` empty after the last phase.
    """

    phase: int
    name: str
    created: tuple[str, ...]
    files: tuple[str, ...]
    skipped: tuple[str, ...]
    next_phase: int
    next_name: str

    @property
    def lines(self) -> list[str]:
        """The same for the terminal."""
        told = (("Created", self.created), ("Skipped", self.skipped), ("Files", self.files))
        further = f"proceed to Phase {self.next_phase}: {self.next_name}?" if self.next_phase else "finish?"
        return [
            *(f"{title}: {_listed(names)}" for title, names in told if names),
            "",
            f"Ready to {further}",
        ]


def checkpoint(state: State) -> Checkpoint | None:
    """The checkpoint at which the work waits; None while the current phase is not done."""
    number, plan = state.current_phase, state.plan
    if plan is None or state.finished or not state.phase_settled(number):
        return None
    phase = plan.phase(number)
    records = [(task, state.task(task.id)) for task in phase.tasks]
    done = [(task.title, record.last) for task, record in records if record.status is TaskStatus.COMPLETE]
    files = (path for _, last in done if last for path in (*last.files, *last.tests, *last.attacks))
    following = number + 1 if number < len(plan.phases) else 0
    return Checkpoint(
        phase=number,
        name=phase.name,
        created=tuple(without_keys(title) for title, _ in done),
        files=tuple(dict.fromkeys(files)),
        skipped=tuple(without_keys(task.title) for task, record in records if record.status is TaskStatus.SKIPPED),
        next_phase=following,
        next_name=plan.phase(following).name if following else "",
    )


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return ", ".join(found[:_NAMED]) + more
