"""Checks before the first paid call that all items fit the context windows of all models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from swarmgate.config.council import Council
from swarmgate.council.debate.model import Debate
from swarmgate.council.debate.transcript import check_fits
from swarmgate.council.debate.voting import VOTE, bounded, brief_of
from swarmgate.council.participants.context_window import Window, material_sections, window_of
from swarmgate.council.participants.contexts import ContextFactory
from swarmgate.errors import CouncilRefused, UsageError
from swarmgate.evaluation.debate.experiment_arms import Job, Setup, debate_of

_NAMED = 5
"""Items that a message names; of more it says how many there are."""


def check_all_fit(jobs: Iterable[Job], setup: Setup, council: Council, contexts: ContextFactory) -> None:
    """Every item as its debates would be held: what fits a debate fits a ballot, and all arms judge the same items.

    Raises:
        UsageError: somebody cannot read an item; the message names the items, and the sizes of the first.
    """
    too_long: dict[str, str] = {}
    seen = set[tuple[str, int]]()
    for job in jobs:
        if (job.item.id, job.first) in seen:
            continue
        seen.add((job.item.id, job.first))
        debate = debate_of(job, setup, council)
        try:
            check_fits(debate, list(_windows(debate, contexts)))
        except CouncilRefused as error:
            too_long.setdefault(job.item.id, error.message)
    if too_long:
        first, why = next(iter(too_long.items()))
        more = f" and {len(too_long) - _NAMED} more" if len(too_long) > _NAMED else ""
        raise UsageError(
            f"items that do not fit: {', '.join(list(too_long)[:_NAMED])}{more}. {first}: {why}",
            hint="Shorten or leave out these items, or measure models with larger windows ([roles.X] context_tokens).",
        )


def _windows(debate: Debate, contexts: ContextFactory) -> Iterator[tuple[str, Window]]:
    own = (*material_sections(debate.question, debate.material), VOTE)
    for seat in debate.seats:
        agent = bounded(contexts.agent(seat), debate)
        yield f"participant {seat.id} ({seat.model})", window_of(agent, brief_of(seat, debate.rounds, own))
