"""Councils that are held over the server: how they stand, who said what, how they voted."""

from __future__ import annotations

from typing import Any

from swarmgate.domain.usage import Usage
from swarmgate.server.services.views.view import View


class CouncilSummary(View):
    """One council in a list."""

    id: str
    pattern: str
    status: str
    """`queued`, `working`, `prepared`, `open`, `paused`, `complete`, `failed` or `damaged`."""
    title: str
    repo: str
    goal: str = ""
    """The goal in whose folder its record is; empty: it belongs to the repository alone."""
    owner: str = ""
    """Name of the account that began it."""
    created: str
    """UTC, ISO 8601."""


class CouncilView(CouncilSummary):
    """One council: what `swarm VERB show --json` says of it, and what may be done with it."""

    who: tuple[str, ...] = ()
    """Its participants."""
    most: int = 0
    """How many rounds there may be."""
    usage: Usage = Usage()
    seconds: float = 0.0
    """Time that processes were at it."""
    why: str = ""
    """Why it stands still; empty: it does not."""
    summary: str = ""
    """The outcome in a few words; empty: there is none yet."""
    waits_for: tuple[str, ...] = ()
    """People whose vote it waits for."""
    documents: tuple[str, ...] = ()
    """Names of the texts that are made of it."""
    data: dict[str, Any] = {}  # noqa: RUF012 - frozen by pydantic, which copies it
    """All of it, as its pattern has it."""
    problem: str = ""
    """The error that its last session ended with, or why it cannot be read."""
    code: str = ""
    """The code of that error."""


class UtteranceView(View):
    """One entry of a council's record: what somebody said, or what happened."""

    seq: int
    time: str
    type: str
    who: str = ""
    text: str = ""
    """In words."""
    data: dict[str, Any] = {}  # noqa: RUF012 - frozen by pydantic, which copies it


class ArgumentNode(View):
    """Something that was said."""

    id: str
    author: str
    round: int
    step: str = ""
    text: str = ""


class ArgumentEdge(View):
    """A link from one thing that was said to an earlier one: it supports or attacks it, and so on."""

    source: str
    target: str
    kind: str


class ArgumentGraph(View):
    """Who said what for or against what in a council; of patterns without links only what was said."""

    council: str
    nodes: tuple[ArgumentNode, ...] = ()
    edges: tuple[ArgumentEdge, ...] = ()


class VoteView(View):
    """The vote of one participant in one round."""

    round: int
    who: str
    vote: str
    """Such as `approve`, `reject`, `agree`, `disagree`, `abstain`; empty: it does not count."""
    level: float | None = None
    """Agreement or confidence, 0 to 1."""
    choices: tuple[str, ...] = ()
    """Options that it approves of, or its ranking."""
    text: str = ""
    excluded: str = ""
    """Why it does not count."""


class VotesView(View):
    """The votes of a council, round by round; none where its pattern has no votes."""

    council: str
    votes: tuple[VoteView, ...] = ()


class CouncilDocument(View):
    """A text that is made of a council."""

    council: str
    name: str
    text: str
