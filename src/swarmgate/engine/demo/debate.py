"""The debate of `swarm demo --debate`: a design question, three participants, two rounds, scripted replies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate import assets
from swarmgate.council.debate.model import Outcome

if TYPE_CHECKING:
    from swarmgate.council.facade import Council

SCRIPT = "debate-script.yaml"
QUESTION = "May the service hand out its codes by counting, as this design says?"
_PARTICIPANTS = {
    "advocate": ("demo/senior", ""),
    "challenger": ("demo/junior", ""),
    "operator": ("demo/senior", "You will run it and be on call: judge by what happens under load, and at night."),
}
"""Each with its model in the script; an advocate and a challenger have briefs of their own."""


async def debate(council: Council, *, live: bool) -> Outcome:
    """Holds the demo's debate.

    Args:
        council: of the demo's project.
        live: every voice has the model of the user's settings.

    Raises:
        SwarmError: as `Council.debate`.
    """
    return await council.debate(
        QUESTION,
        participants=[
            {"id": name, "model": "" if live else model, "brief": brief}
            for name, (model, brief) in _PARTICIPANTS.items()
        ],
        rounds=2,
        material=(assets.demo() / "design.md").read_text(encoding="utf-8"),
        synthesis=True,
    )
