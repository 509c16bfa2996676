"""Parses the conclusion of a discussion, and holds it to the messages that there are and to the links between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from swarmgate.agents.tools.answer_text import Unread, squeezed
from swarmgate.agents.tools.answers import TEXT, Answer, Form, called
from swarmgate.council.discussion.answers.assessment import Questions, Sides, Voices, open_questions, stances
from swarmgate.council.discussion.answers.values import (
    ID_KEYS,
    Flag,
    Ids,
    Item,
    Names,
    Spoken,
    Text,
    Texts,
    by_voice,
    dicts_of,
    items_of,
    known,
    length_problem,
    one_of,
    texts_in,
    texts_of,
)
from swarmgate.council.discussion.argument.conditions import Claim
from swarmgate.council.discussion.argument.evidence import Evidence
from swarmgate.council.discussion.findings import (
    Agreement,
    ChangeCondition,
    ConcludedInsight,
    Conclusion,
    Journey,
    Level,
    MinorityView,
    ProposedAction,
    Quoted,
    Strength,
    Unresolved,
)
from swarmgate.council.limits import MOST_TEXT
from swarmgate.domain.review.votes import MESSAGE_ID

SUMMARY = (500, 800)
"""Characters of the executive summary."""

_LEADING_ID = re.compile(rf"\[?{MESSAGE_ID.pattern}\]?(?:\W+|$)")

Sure = Annotated[Level | None, one_of(Level)]


class Source(Answer):
    """A message that speaks for or against something."""

    message: Ids = called("messageId", *ID_KEYS, default=(), description="The id of the message.")
    summary: Text = called("summary", "text", default="", description="What of it does so.")
    refuted: Flag = Field(None, description="Of a view against it: whether it was refuted.")

    @property
    def ids(self) -> tuple[str, ...]:
        """The message; where none is named, those that its words name."""
        return self.message or tuple(MESSAGE_ID.findall(self.summary))


Sources = Annotated[tuple[Source, ...], BeforeValidator(items_of)]


class Concluded(Item):
    """Something that is concluded, and the messages that it rests on."""

    text: Text = called("text", "insight", "agreement")
    cites: Ids = called(
        *("cites", "source", "sources", "evidence", "messageIds"), default=(), description="Ids of messages."
    )

    @property
    def ids(self) -> tuple[str, ...]:
        """The messages; where none is listed, those that its words name."""
        return self.cites or tuple(dict.fromkeys(MESSAGE_ID.findall(self.text)))


class Noticed(Concluded):
    """An insight."""

    text: Text = called("text", "title", "insight")
    description: Text = Field("", description="More of it.")
    confidence: Sure = Field(None, description="high, medium or low, by the evidence.")
    confidence_reason: Text = Field("", description="Why: the evidence, not how many agree.")
    supporting_evidence: Sources = Field((), description="What of which message carries it.")
    dissenting_views: Sources = Field((), description="What of which message is against it.")
    dissent: Text = Field("", description="Who does not agree, and why.")

    @property
    def ids(self) -> tuple[str, ...]:
        """The messages that carry it."""
        listed = (*self.cites, *(each for one in self.supporting_evidence for each in one.ids))
        return tuple(dict.fromkeys(listed or MESSAGE_ID.findall(f"{self.text} {self.description}")))


class Agreed(Concluded):
    """An agreement."""

    text: Text = called("text", "point", "agreement")
    resolved_by: Text = called("resolvedBy", "resolution", default="", description="argument or majority.")
    supporters: Names = Field((), description="Ids of voices.")
    strength: Annotated[Strength | None, one_of(Strength)] = Field(None, description="strong, moderate or weak.")


class Outnumbered(Concluded):
    """A view of the minority."""

    text: Text = called("text", "position", "view")
    advocate: Names = called("advocate", "advocates", "expert", default=(), description="The id of the voice.")
    reason: Text = Field("", description="Why it was not adopted.")
    still_valid: Flag = Field(None, description="Whether it still holds.")
    note: Text = Field("", description="Why it deserves attention all the same.")


class Open(Concluded):
    """A debate that was not resolved."""

    text: Text = called("topic", "text")
    why: Text = called("why", "whyUnresolved", "reason", default="", description="Why it stayed open.")
    positions: Sides = called("positions", "sides", default=(), description="The sides.")


class Advised(Concluded):
    """A recommendation."""

    text: Text = called("text", "action", "recommendation")
    confidence: Sure = Field(None, description="high, medium or low.")
    risk: Text = called("risk", "risks", default="", description="What may go wrong.")
    prerequisite: Text = called("prerequisite", "prerequisites", default="", description="What has to be first.")


class Moved(Answer):
    """How the position of an expert went."""

    expert: Text
    journey: Texts = Field((), description="Its positions in order.")
    turning_points: Ids = called("turningPoints", "keyTurningPoints", default=(), description="Ids of messages.")


class CameUp(Answer):
    """Whether what an expert named as that which would change its mind came up."""

    expert: Text = called("expert", "author", "who", default="", description="The id of the expert.")
    came_up: Flag = called("cameUp", "met", "happened", default=None, description="true or false.")
    cites: Ids = called("cites", "source", "messages", default=(), description="Ids of the messages that show it.")


Claims = Annotated[
    tuple[CameUp, ...], BeforeValidator(lambda value: by_voice(value, "expert", "cameup", CameUp.spellings()))
]


class Synthesis(Spoken):
    """The synthesis of all rounds."""

    longest: ClassVar[int] = MOST_TEXT
    wrapped: ClassVar[bool] = True
    executive_summary: Text = Field(min_length=1, description="In 500 to 800 characters.")
    insights: Annotated[tuple[Noticed, ...], BeforeValidator(items_of)] = ()
    agreements: Annotated[tuple[Agreed, ...], BeforeValidator(items_of)] = ()
    minority_report: Annotated[tuple[Outnumbered, ...], BeforeValidator(items_of)] = ()
    unresolved_debates: Annotated[tuple[Open, ...], BeforeValidator(items_of)] = ()
    position_evolution: Text = ""
    journeys: Annotated[tuple[Moved, ...], BeforeValidator(dicts_of)] = ()
    would_change_if: Claims = Field((), description="Whether what would change the mind of each expert came up.")
    open_questions: Questions = ()
    recommendations: Annotated[tuple[Advised, ...], BeforeValidator(items_of)] = ()
    meta_observations: Text = ""

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The fields; the evolution of positions may be a list of journeys."""
        read = super().fields_in(found)
        evolution = read.get("position_evolution")
        if isinstance(evolution, list | Mapping):
            listed = (
                evolution
                if isinstance(evolution, list)
                else by_voice(evolution, "expert", "journey", Moved.spellings())
            )
            journeys = [each for each in listed if isinstance(each, Mapping) and each.get("expert")]
            others = "\n".join(texts_of([each for each in listed if each not in journeys]))
            read |= {"position_evolution": others, "journeys": [*read.get("journeys", ()), *journeys]}
        return read

    @property
    def cited(self) -> tuple[str, ...]:
        """Every id that is cited, or named in a text."""
        lists = (self.insights, self.agreements, self.minority_report, self.unresolved_debates, self.recommendations)
        cites = [each for listed in lists for concluded in listed for each in concluded.ids]
        cites += [each for insight in self.insights for view in insight.dissenting_views for each in view.ids]
        cites += [each for one in self.would_change_if for each in one.cites]
        cites += [each for journey in self.journeys for each in journey.turning_points]
        texts = texts_in(self.model_dump(exclude={TEXT}))
        return tuple(dict.fromkeys((*cites, *(each for text in texts for each in MESSAGE_ID.findall(text)))))


@dataclass(frozen=True, slots=True)
class Checks:
    """What a conclusion is held to.

    Attributes:
        ids: of the messages that there are.
        names: ids of those that take part, by id and by name.
        agreed_by: as `council.discussion.argument.agreement.agreed_by` of the discussion.
        evidence: the links of the discussion, as evidence.
        conditions: as `council.discussion.argument.conditions.checked_conditions` of the discussion.
    """

    ids: frozenset[str]
    names: Mapping[str, str]
    agreed_by: Callable[[Collection[str]], frozenset[str]]
    evidence: Evidence
    conditions: Callable[[Mapping[str, Claim]], tuple[ChangeCondition, ...]]


def conclusion_of(checks: Checks) -> Form[Synthesis, Conclusion]:
    """How all rounds are concluded.

    With ids that do not exist, an insight that cites nothing, or a summary far from 500 to 800 characters, it is asked
    for once more, then kept as it is, noted.
    """
    return Form(Synthesis, lambda given: _checked(given, checks))


def _checked(given: Synthesis, checks: Checks) -> Conclusion:
    voices = Voices(checks.names)
    agreements, claimed = _agreements(given.agreements, checks, voices)
    conclusion = Conclusion(
        executive_summary=given.executive_summary,
        insights=tuple(_finding(each, checks) for each in given.insights),
        agreements=agreements,
        minority_report=tuple(_view(each, checks, voices) for each in given.minority_report),
        unresolved_debates=tuple(_debate(each, checks, voices) for each in given.unresolved_debates),
        position_evolution=given.position_evolution,
        journeys=tuple(_journey(each, checks, voices) for each in given.journeys),
        change_conditions=checks.conditions(_claims(given.would_change_if, checks)),
        open_questions=open_questions(given.open_questions),
        recommendations=tuple(_action(each, checks) for each in given.recommendations),
        meta_observations=given.meta_observations,
    )
    noted = (*given.noted, *claimed, *voices.strays)
    if problems := list(_problems(given, checks)):
        kept = (*noted, *(note for _, note in problems))
        asked = " ".join(problem for problem, _ in problems)
        raise Unread(asked, otherwise=conclusion.model_copy(update={"noted": kept}))
    return conclusion.model_copy(update={"noted": noted})


def _problems(given: Synthesis, checks: Checks) -> Sequence[tuple[str, str]]:
    """What is wrong with a conclusion: as its author is told, and as it is noted where that mends nothing."""
    problems: list[tuple[str, str]] = []
    if unknown := known(given.cited, checks.ids)[1]:
        listed = ", ".join(unknown[:5])
        told = f"There is no message {listed}: cite those that you were shown."
        problems.append((told, f"it cites messages that do not exist: {listed}"))
    if bare := [str(number) for number, each in enumerate(given.insights, start=1) if not each.ids]:
        listed = ", ".join(bare)
        told = f"Insight {listed} cites no message: name those that it rests on."
        problems.append((told, f"insight {listed} cites no message"))
    if wrong := length_problem("executiveSummary", given.executive_summary, *SUMMARY):
        problems.append((wrong, wrong))
    return problems


# --- the parts ---


def _finding(given: Noticed, checks: Checks) -> ConcludedInsight:
    against = tuple(dict.fromkeys(each for view in given.dissenting_views for each in view.ids))
    return ConcludedInsight(
        **_cited(given, checks),
        description=given.description,
        confidence=given.confidence,
        confidence_reason=given.confidence_reason,
        supporting_evidence=_quoted(given.supporting_evidence, checks),
        dissenting_views=_quoted(given.dissenting_views, checks),
        dissent=given.dissent,
        weight=checks.evidence.weight(given.ids, against),
    )


def _quoted(given: Sequence[Source], checks: Checks) -> tuple[Quoted, ...]:
    made = []
    for each in given:
        cites = known(each.ids, checks.ids)[0]
        answered = bool(cites) and checks.evidence.answered.issuperset(cites)
        summary = _LEADING_ID.sub("", each.summary) if cites else each.summary
        if cites or summary:
            made.append(Quoted(cites=cites, summary=summary, refuted=each.refuted, answered=answered))
    return tuple(made)


def _view(given: Outnumbered, checks: Checks, voices: Voices) -> MinorityView:
    return MinorityView(
        **_cited(given, checks),
        advocate=", ".join(voices.known(given.advocate)),
        reason=given.reason,
        still_valid=given.still_valid,
        note=given.note,
    )


def _debate(given: Open, checks: Checks, voices: Voices) -> Unresolved:
    cites = known(given.ids, checks.ids)[0]
    return Unresolved(topic=given.text, why=given.why, cites=cites, positions=stances(given.positions, voices))


def _action(given: Advised, checks: Checks) -> ProposedAction:
    weight = checks.evidence.weight(given.ids) if given.ids else None
    own = {"confidence": given.confidence, "risk": given.risk, "prerequisite": given.prerequisite, "weight": weight}
    return ProposedAction.model_validate({**_cited(given, checks), **own})


def _journey(given: Moved, checks: Checks, voices: Voices) -> Journey:
    expert = next(iter(voices.known([given.expert])), given.expert)
    return Journey(expert=expert, journey=given.journey, cites=known(given.turning_points, checks.ids)[0])


def _claims(given: Sequence[CameUp], checks: Checks) -> dict[str, Claim]:
    """What is claimed of each expert, by id; a name is known in any spelling."""
    names = {squeezed(name): known_id for name, known_id in checks.names.items()}
    return {
        names[squeezed(each.expert)]: (each.came_up, each.cites)
        for each in given
        if each.came_up is not None and squeezed(each.expert) in names
    }


def _cited(given: Concluded, checks: Checks) -> dict[str, Any]:
    cites, unresolved = known(given.ids, checks.ids)
    return {"text": given.text, "cites": cites, "unresolved": unresolved}


def _agreements(
    given: Sequence[Agreed], checks: Checks, voices: Voices
) -> tuple[tuple[Agreement, ...], tuple[str, ...]]:
    """The agreements as their messages show them, and a phrase for each of which they show less than it claims."""
    made: list[Agreement] = []
    noted: list[str] = []
    for number, each in enumerate(given, start=1):
        cites = known(each.ids, checks.ids)[0]
        claimed = next((way for way in _WAYS if squeezed(each.resolved_by) == way), "")
        ways = [way for way in _WAYS if way in checks.agreed_by(cites)]
        way = claimed if claimed in ways else next(iter(ways), "unproven")
        if way not in (claimed, *([] if claimed else ways)):
            instead = "neither an argument nor a majority" if way == "unproven" else f"that it is by {way}"
            claim = f" is claimed to be by {claimed};" if claimed else ":"
            shown = "its messages show" if cites else "it cites no message, which shows"
            noted.append(f"agreement {number}{claim} {shown} {instead}")
        supporters = voices.known(each.supporters)
        fields = {"text": each.text, "cites": cites, "supporters": supporters, "strength": each.strength}
        made.append(Agreement.model_validate({**fields, "resolved_by": way}))
    return tuple(made), tuple(noted)


_WAYS = ("argument", "majority")
