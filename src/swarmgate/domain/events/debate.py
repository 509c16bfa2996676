"""Ledger events of debates in the loop: the record, whether a debate took place, and what it cost or saved."""

from typing import Literal

from pydantic import Field

from swarmgate.domain.base import Frozen, Line
from swarmgate.domain.review.evidence import Verdict
from swarmgate.domain.review.votes import Ballot, Tally, Vote


class DebateKept(Frozen):
    """A part of a debate in the loop was kept: the debate itself, a message, a whole round, or its outcome.

    `sha256` is that of its line, in hex, which holds that of the line before it: so it stands for all of them. A debate
    goes on in a later run only where its newest line is the one that is named here.
    """

    type: Literal["debate_kept"] = "debate_kept"
    task: str = ""
    attempt: int = 0
    debate: str = Field(min_length=1)
    part: Line
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class DebateWeighed(Frozen):
    """Whether the review of a change, or of the plan (`task` empty, `attempt` 0), was debated.

    `triggers` say what makes it contested, none: nothing does; `why` says why a debate was held or not. `first` is
    what the reviewer or critic said before, `look` the first look, `look_failed` why there is none; `model` is who
    looked. Of a debate that was held, `debate` is the id, `verdict`, `tally` and `decided_by` how it ended: no verdict
    where nothing came of it. `tokens` is what the first look and the debate used, `debated` that of the debate alone,
    `saved` what a debate that was not held would have used beyond that, by estimate. `deferred` says that
    `.swarm/debate-worth.json` speaks against debates: nobody was asked. `evidence` is the SHA-256 of `debate.json`.
    """

    type: Literal["debate_weighed"] = "debate_weighed"
    task: str = ""
    attempt: int = 0
    mode: Literal["debate", "auto"]
    triggers: tuple[Line, ...] = ()
    held: bool
    why: Line
    first: Verdict | None = None
    look: Ballot | None = None
    look_failed: Line = ""
    model: str = ""
    debate: str = ""
    verdict: Vote | None = None
    tally: Tally | None = None
    decided_by: Literal["synthesis", "majority"] | None = None
    tokens: int = Field(0, ge=0)
    debated: int = Field(0, ge=0)
    saved: int = Field(0, ge=0)
    deferred: bool = False
    evidence: str = ""
