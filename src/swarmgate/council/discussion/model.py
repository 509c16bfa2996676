"""Data model of a discussion: experts, tensions, rounds of typed messages, and the conclusion.

A discussion has no verdict. Its experts and four fixed roles work on a question without a clear answer; what they say
is kept as messages that swarmgate names (`r2-msg-007`) and that relate to each other by a closed set of links. Counts
of counters, steel-mans and shifts come from those links (`argument.measured`), never from a model's own score.

JSON has the names of these fields in camelCase (`thinkingStyle`, `wouldChangeIf`); both spellings are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from swarmgate.council.discussion.findings import Assessment, Camel, Conclusion, Reopening
from swarmgate.council.limits import ROUNDS
from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.review.votes import SeatId
from swarmgate.domain.usage import Usage

MODERATOR, HISTORIAN, CONTRARIAN, CROSS_DOMAIN, USER = "moderator", "historian", "contrarian", "cross-domain", "user"


class Mode(StrEnum):
    """How much is spent on a discussion."""

    DEEP = "deep"
    STANDARD = "standard"
    LIGHTWEIGHT = "lightweight"


class Extent(Frozen):
    """The bounds of a mode, both ends included.

    `calls` bounds what is contributed in one round: the messages of its steps 3 to 6 (arguments, attacks, responses,
    the analogy), those that a rule forces included. Positions, the moderator's and the historian's are not among them,
    and a participant that is asked once more, because its answer could not be read, makes one message all the same.
    """

    experts: tuple[int, int]
    rounds: tuple[int, int]
    calls: tuple[int, int]
    roles: tuple[str, ...]


EXTENTS: dict[Mode, Extent] = {
    Mode.DEEP: Extent(
        experts=(3, 4), rounds=(3, 5), calls=(8, 12), roles=(MODERATOR, HISTORIAN, CONTRARIAN, CROSS_DOMAIN)
    ),
    Mode.STANDARD: Extent(
        experts=(2, 3), rounds=(2, 3), calls=(5, 8), roles=(MODERATOR, HISTORIAN, CONTRARIAN, CROSS_DOMAIN)
    ),
    Mode.LIGHTWEIGHT: Extent(experts=(2, 2), rounds=(1, 2), calls=(3, 5), roles=(MODERATOR, CONTRARIAN)),
}


def joined(value: Any) -> Any:
    """A text for a list of texts, with a comma between them; any other value as it is."""
    is_list = isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
    return ", ".join(each.strip() for each in value if each.strip()) if is_list else value


def listed(value: Any) -> Any:
    """A list of one for a text; any other value as it is."""
    return ([value] if value.strip() else []) if isinstance(value, str) else value


Joined = Annotated[Text, BeforeValidator(joined)]
"""A text that may be given as a list of texts, too."""


class ProblemDefinition(Camel):
    """What is to be solved, within which bounds, and by what one sees that it is."""

    statement: Joined = Field(min_length=1)
    scope: Joined = ""
    success_criteria: Annotated[tuple[Text, ...], BeforeValidator(listed)] = ()

    @model_validator(mode="before")
    @classmethod
    def _in_words(cls, data: Any) -> Any:
        return {"statement": data} if isinstance(data, str) else data

    @property
    def size(self) -> int:
        """Characters of all its texts."""
        return sum(map(len, (self.statement, self.scope, *self.success_criteria)))


class Expert(Camel):
    """One generated, or given, expert. `model` is `provider/model`; empty: that of `[roles.participant]`.

    `agent` is who it is taken from, as of a `Seat`; one that says no more is called as that. `folder` is where its
    files are rooted.
    """

    id: SeatId
    name: Line = Field(min_length=1)
    expertise: Joined = Field(min_length=1)
    thinking_style: Joined = ""
    bias: Joined = ""
    reply_tendency: Joined = ""
    stakes: Joined = ""
    blind_spots: Joined = ""
    model: str = ""
    system: Text = ""
    agent: str = ""
    folder: str = ""

    @model_validator(mode="before")
    @classmethod
    def _called_as_agent(cls, data: Any) -> Any:
        agent = data.get("agent") if isinstance(data, Mapping) else ""
        return {**dict.fromkeys(("id", "name", "expertise"), agent), **data} if agent else data


class Tension(Camel):
    """Two experts with opposing interests, by id, and along which axis."""

    between: tuple[SeatId, SeatId]
    axis: Line
    description: Text = ""


class Cast(Camel):
    """Who takes part in what: the experts, which of them oppose each other, models of fixed roles by role, the problem.

    `dropped` says, a phrase each, what of a generated cast could not be taken: an expert too many, an unknown id.
    """

    experts: tuple[Expert, ...]
    tensions: tuple[Tension, ...] = ()
    problem_definition: ProblemDefinition | None = None
    models: dict[str, str] = Field(default_factory=dict)
    dropped: tuple[Line, ...] = ()
    model: str = ""
    usage: Usage = Usage()


class Step(StrEnum):
    """The parts of a round, in order; the values are the STEP header of the wire.

    ASK is the moderator's question that a measure forced; a second ATTACK follows it, or the rule of zero counters.
    """

    POSITION = "position"
    FRAME = "frame"
    ARGUE = "argue"
    ATTACK = "attack"
    ASK = "ask"
    RESPOND = "respond"
    ANALOGY = "analogy"
    STRESS = "stress"
    ASSESS = "assess"
    RECORD = "record"


CONTRIBUTIONS = frozenset({Step.ARGUE, Step.ATTACK, Step.RESPOND, Step.ANALOGY, Step.STRESS})
"""Steps whose messages `Extent.calls` bounds. STRESS and a second ATTACK are on the wire as `attack`."""


class Relation(StrEnum):
    """How a message stands to an earlier one: a closed set."""

    SUPPORTS = "supports"
    COUNTERS = "counters"
    EXTENDS = "extends"
    QUESTIONS = "questions"
    RESPONDS_TO = "responds_to"


class Link(Camel):
    """From a message to an earlier one, `to`, and why.

    `steel_man` is the strongest form of what it counters, in own words.
    """

    to: str
    kind: Relation
    steel_man: Text = ""
    comment: Text = ""


class Position(Camel):
    """Where an expert stands; `confidence` is 0 to 1, None: it gave no number that can be read."""

    position: Text
    confidence: float | None = Field(None, ge=0, le=1)
    conditions: tuple[Line, ...] = ()
    would_change_if: Text = ""
    key_risk: Text = ""


class ShiftKind(StrEnum):
    """How far an expert moved in a response."""

    NONE = "none"
    MINOR = "minor"
    MAJOR = "major"


class Shift(Camel):
    """How an expert's position moved, why, and the messages that moved it: without one that it saw, it did not move.

    `previous_position` is where it stood before, as it says itself, else as it declared. `refused` says why a claimed
    shift counts as none.
    """

    kind: ShiftKind = ShiftKind.NONE
    previous_position: Text = ""
    reason: Text = ""
    cites: tuple[str, ...] = ()
    refused: Line = ""


class FaultLine(Camel):
    """What truly divides some of those who take part."""

    between: tuple[str, ...] = ()
    axis: Line
    description: Text = ""


class Question(Camel):
    """What the moderator asks the experts of these ids; of none: all of them."""

    to: tuple[str, ...] = ()
    text: Text


class Framing(Camel):
    """What the moderator frames a round by. `budget` is how much disagreement it asks for, 3 to 6 of 10."""

    fault_lines: tuple[FaultLine, ...]
    questions: tuple[Question, ...] = ()
    disagreement_budget: int = Field(ge=3, le=6)


class Message(Camel):
    """The message of one participant in one step.

    `text` is its prose; by step it has a `position` (POSITION, and RESPOND where it moved), a `framing`, a `shift`, an
    `assessment`. `would_change_if` is what would change the author's mind, as an argument names it. `links` go to
    messages of earlier steps; `unresolved` are ids that it named and that it was not shown.
    `noted` says, a phrase each, what swarmgate corrected in it: a score clamped, a shift refused. `failed` says why it
    said nothing that counts. `condensed` are ids of messages that it saw as a gist.
    """

    id: str
    round: int
    step: Step
    author: SeatId
    text: Text = ""
    links: tuple[Link, ...] = ()
    unresolved: tuple[str, ...] = ()
    would_change_if: Text = ""
    position: Position | None = None
    framing: Framing | None = None
    shift: Shift | None = None
    assessment: Assessment | None = None
    noted: tuple[Line, ...] = ()
    failed: Line = ""
    human: bool = False
    condensed: tuple[str, ...] = ()
    model: str = ""
    prompt_hash: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0


class Measured(Camel):
    """What the links of a round say (`argument.measured`). `disagreement` is 0 to 10."""

    counters: int = 0
    steel_mans: int = 0
    supports: int = 0
    questions: int = 0
    shifts: int = 0
    refused_shifts: int = 0
    unresolved: int = 0
    disagreement: float = Field(0, ge=0, le=10)


class DiscussionRound(Camel):
    """One round. `done` are its finished steps in order; the round is whole with `measured` set.

    `topic` is its own, where the moderator proposed one; `direction` and `constraints` are what the choices before it
    asked for; `forced` says, a phrase each, which rule made somebody speak again. `warnings` say what is wrong with its
    quality, why, and what to do next.
    """

    number: int
    topic: Text = ""
    direction: Text = ""
    constraints: tuple[Text, ...] = ()
    messages: tuple[Message, ...] = ()
    done: tuple[Step, ...] = ()
    forced: tuple[Line, ...] = ()
    measured: Measured | None = None
    warnings: tuple[Line, ...] = ()
    started_at: str = ""
    seconds: float = 0.0


class ChoiceKind(StrEnum):
    """What comes after a round."""

    FOLLOW = "follow"
    DEEP_DIVE = "deep-dive"
    DIFFERENT_ANGLE = "different-angle"
    INJECT = "inject"
    SYNTHESIZE = "synthesize"
    PAUSE = "pause"


class Choice(Camel):
    """A choice after round `after`; `text` is the constraint of INJECT, or what to go into. `by`: who chose.

    `constraint` is one that a choice of another kind brings along: it holds from the next round on, too.
    """

    after: int
    kind: ChoiceKind
    text: Text = ""
    constraint: Text = ""
    by: Literal["user", "moderator", "bounds"] = "user"


class Discussion(Camel):
    """What is discussed, and within which bounds.

    `experts` are given ones, `tensions` those between them; empty: they are generated from the topic, and so is a
    `problem_definition` that is None. `rounds` is the most there may be, `least` how many there are before it ends by
    itself; `models` are those of fixed roles by role; `user`: a person may speak.
    """

    id: str
    topic: Text
    material: Text = ""
    mode: Mode = Mode.STANDARD
    experts: tuple[Expert, ...] = ()
    tensions: tuple[Tension, ...] = ()
    problem_definition: ProblemDefinition | None = None
    models: dict[str, str] = Field(default_factory=dict)
    rounds: int = Field(3, ge=int(ROUNDS.least), le=int(ROUNDS.most))
    least: int = 1
    tokens: int = Field(20_000, ge=1)
    timeout_s: float = Field(300, gt=0)
    whole_s: float = Field(1800, gt=0)
    user: bool = False

    @property
    def extent(self) -> Extent:
        """The bounds of its mode."""
        return EXTENTS[self.mode]


class DiscussionRecord(Camel):
    """All that is kept of a discussion. `partial` is the round at work; `conclusion` None: it is not over."""

    discussion: Discussion
    cast: Cast | None = None
    status: Literal["prepared", "open", "paused", "complete", "failed"] = "prepared"
    why: Line = ""
    rounds: tuple[DiscussionRound, ...] = ()
    partial: DiscussionRound | None = None
    choices: tuple[Choice, ...] = ()
    reopenings: tuple[Reopening, ...] = ()
    conclusion: Conclusion | None = None
    usage: Usage = Usage()
    seconds: float = 0.0
