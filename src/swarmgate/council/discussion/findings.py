"""What the moderator and the historian find: the assessment of a round, its taking up again, the conclusion."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from swarmgate.domain.base import Frozen, Line, Text
from swarmgate.domain.review.votes import SeatId
from swarmgate.domain.usage import Usage


class Camel(Frozen):
    """A record whose JSON has camelCase keys."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True)


class Stated(Camel):
    """A record that is known by its first field: a text alone, as older records have it, is that field."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, data: Any) -> Any:
        return {next(iter(cls.model_fields)): data} if isinstance(data, str) else data


class Level(StrEnum):
    """How sure, how new or how strong something is, in three words."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Strength(StrEnum):
    """How firmly an agreement is held."""

    STRONG = "strong"
    MODERATE = "moderate"
    WEAK = "weak"


class Insight(Stated):
    """Something new, how new it is, and the messages that it comes from."""

    text: Text
    source: tuple[str, ...] = ()
    novelty: Level | None = None


class CommonPoint(Stated):
    """What is agreed in a round, who supports it by id, and how firmly."""

    point: Text
    supporters: tuple[Line, ...] = ()
    strength: Strength | None = None


class Stance(Stated):
    """One side of a disagreement, who advocates it by id, and by which arguments."""

    position: Text
    advocates: tuple[Line, ...] = ()
    arguments: tuple[Text, ...] = ()


class Disagreement(Stated):
    """What is not agreed in a round, with the sides that there are."""

    point: Text
    positions: tuple[Stance, ...] = ()


class OpenQuestion(Stated):
    """A question without an answer, why it has none, and how to come to one."""

    question: Text
    why_open: Text = ""
    suggested_approach: Text = ""


class Recommendation(StrEnum):
    """How the moderator would go on."""

    CONTINUE = "continue"
    DEEP_DIVE = "deep-dive"
    DIFFERENT_ANGLE = "different-angle"
    SYNTHESIZE = "synthesize"


class Assessment(Camel):
    """The moderator's quality gate of a round: scores of 1 to 5, beside what is measured, and what the round came to.

    `cause` is what the moderator holds for the cause of a low score; `focus` is what the next round should go into.
    """

    genuine_disagreement: int = Field(ge=1, le=5)
    evidence_quality: int = Field(ge=1, le=5)
    steel_manning: int = Field(ge=1, le=5)
    novel_insights: int = Field(ge=1, le=5)
    position_evolution: int = Field(ge=1, le=5)
    overall: int = Field(ge=1, le=5)
    summary: Text = ""
    key_takeaway: Text = ""
    agreements: tuple[CommonPoint, ...] = ()
    active_disagreements: tuple[Disagreement, ...] = ()
    insights: tuple[Insight, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    recommendation: Recommendation = Recommendation.CONTINUE
    recommendation_reason: Text = ""
    focus: Text = ""
    cause: Text = ""


class Reopening(Camel):
    """How the moderator takes a discussion up again after round `after`: its answers to three questions, and a topic.

    `tension` is the most productive one of the last session, `question` the most important open one, `settled` what of
    the tension map is settled. `topic` and `framing` are those of the next round; without a topic, what the moderator
    recommended at the end of the round still holds. `failed` says why it said nothing.
    """

    after: int
    tension: Text = ""
    question: Text = ""
    settled: Text = ""
    topic: Text = ""
    framing: Text = ""
    noted: tuple[Line, ...] = ()
    failed: Line = ""
    model: str = ""
    prompt_hash: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0


class Quoted(Camel):
    """What speaks for or against a statement, and the messages that say so.

    `refuted` is what the author of the statement says of what is against it; `answered`: messages answer all of it.
    """

    cites: tuple[str, ...] = ()
    summary: Text = ""
    refuted: bool | None = None
    answered: bool = False


class EvidenceWeight(Camel):
    """What the links say of the messages that a statement rests on (`argument.evidence`).

    Counted are messages: that it cites, that counter one of those or dissent, and of these that nobody answered.
    """

    cited: int = 0
    countered: int = 0
    unanswered: int = 0
    confidence: Level


class Cited(Stated):
    """A statement with the messages that it rests on; `unresolved` are ids that do not exist."""

    text: Text
    cites: tuple[str, ...] = ()
    dissent: Text = ""
    unresolved: tuple[str, ...] = ()


class ConcludedInsight(Cited):
    """An insight of the conclusion: how sure its author is and why, and what the links say of it (`weight`)."""

    description: Text = ""
    confidence: Level | None = None
    confidence_reason: Text = ""
    supporting_evidence: tuple[Quoted, ...] = ()
    dissenting_views: tuple[Quoted, ...] = ()
    weight: EvidenceWeight | None = None


class MinorityView(Cited):
    """A view that was outnumbered: whose it is, why it was not adopted, whether it still holds, why it matters."""

    advocate: Line = ""
    reason: Text = ""
    still_valid: bool | None = None
    note: Text = ""


class ProposedAction(Cited):
    """What is recommended to be done, how sure that is, at what risk, and what has to be there first."""

    confidence: Level | None = None
    risk: Text = ""
    prerequisite: Text = ""
    weight: EvidenceWeight | None = None


class Unresolved(Stated):
    """A debate that stayed open, the sides of it, and why."""

    topic: Text
    why: Text = ""
    cites: tuple[str, ...] = ()
    positions: tuple[Stance, ...] = ()


class Agreement(Camel):
    """What was agreed, and how: because an argument was accepted, or because more held it.

    Both follow from the cited messages (`agreement.agreed_by`); `unproven`: claimed, and they show neither.
    """

    text: Text
    resolved_by: Literal["argument", "majority", "unproven"]
    cites: tuple[str, ...] = ()
    supporters: tuple[Line, ...] = ()
    strength: Strength | None = None


class Journey(Camel):
    """How the position of an expert went, step by step, and the messages that turned it."""

    expert: Line
    journey: tuple[Text, ...] = ()
    cites: tuple[str, ...] = ()


class ChangeCondition(Camel):
    """What an expert named as that which would change its mind, in message `source`, and whether it came up.

    `status` follows from the messages that are cited for it (`argument.conditions`); `unproven`: it is claimed to have
    come up, and no cited message can show that; `unclaimed`: nobody said. `moved`: one of them moved the expert.
    """

    author: SeatId
    text: Text
    source: str
    status: Literal["came-up", "absent", "unproven", "unclaimed"] = "unclaimed"
    cites: tuple[str, ...] = ()
    moved: bool = False


class Conclusion(Camel):
    """What the historian (the moderator in lightweight) makes of a discussion. Every id was checked."""

    executive_summary: Text
    insights: tuple[ConcludedInsight, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    minority_report: tuple[MinorityView, ...] = ()
    unresolved_debates: tuple[Unresolved, ...] = ()
    position_evolution: Text = ""
    journeys: tuple[Journey, ...] = ()
    change_conditions: tuple[ChangeCondition, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    recommendations: tuple[ProposedAction, ...] = ()
    meta_observations: Text = ""
    noted: tuple[Line, ...] = ()
    author: SeatId = "historian"
    model: str = ""
    prompt_hash: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0
