"""Asks the historian (in lightweight mode the moderator) for the conclusion of a discussion and checks cited ids."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from swarmgate.agents.briefs.brief import Section, cut, one_line
from swarmgate.agents.tools.answer_text import Unread, squeezed
from swarmgate.agents.tools.answers import TEXT, Answer, Form, called
from swarmgate.council.discussion.answers.values import Ids, Spoken, Text, Texts, dicts_of, items_of, known, texts_in
from swarmgate.council.discussion.argument.agreement import agreed_by
from swarmgate.council.discussion.argument.conditions import Claim, checked_conditions, declared_conditions
from swarmgate.council.discussion.model import (
    HISTORIAN,
    MODERATOR,
    Agreement,
    Cast,
    ChangeCondition,
    Cited,
    Conclusion,
    DiscussionRound,
    Unresolved,
)
from swarmgate.council.discussion.steps.participants import Participants, constraints_section
from swarmgate.council.limits import MOST_TEXT
from swarmgate.domain.review.votes import MESSAGE_ID
from swarmgate.errors import CouncilFailed


class Finding(Answer):
    """Something that is concluded, and the messages that it rests on."""

    text: Text = called("text", "insight", "agreement")
    cites: Ids = called("cites", "source", "sources", "evidence", default=(), description="Ids of messages.")

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The fields; an object without a text is one itself."""
        return {"text": found, **super().fields_in(found)}


class Noticed(Finding):
    """An insight."""

    dissent: Text = Field("", description="Who does not agree, and why.")


class Agreed(Finding):
    """An agreement."""

    resolved_by: Text = Field("", description="argument or majority.")


class Open(Finding):
    """A debate that was not resolved."""

    text: Text = called("topic", "text")
    why: Text = ""


class CameUp(Answer):
    """Whether what an expert named as that which would change its mind came up."""

    expert: Text = called("expert", "author", "who", default="", description="The id of the expert.")
    came_up: Text = called("cameUp", "met", "happened", default="", description="true or false.")
    cites: Ids = called("cites", "source", "messages", default=(), description="Ids of the messages that show it.")

    @property
    def claim(self) -> Claim:
        """What is claimed; a word that begins like `yes` or `true` is one."""
        return self.came_up.casefold()[:1] in ("t", "y"), self.cites


Findings = Annotated[tuple[Finding, ...], BeforeValidator(items_of)]


class Synthesis(Spoken):
    """The synthesis of all rounds."""

    longest: ClassVar[int] = MOST_TEXT
    executive_summary: Text = Field(min_length=1)
    insights: Annotated[tuple[Noticed, ...], BeforeValidator(items_of)] = ()
    agreements: Annotated[tuple[Agreed, ...], BeforeValidator(items_of)] = ()
    minority_report: Findings = ()
    unresolved_debates: Annotated[tuple[Open, ...], BeforeValidator(items_of)] = ()
    position_evolution: Text = ""
    would_change_if: Annotated[tuple[CameUp, ...], BeforeValidator(dicts_of)] = Field(
        (), description="Whether what would change the mind of each expert came up."
    )
    open_questions: Texts = ()
    recommendations: Findings = ()
    meta_observations: Text = ""

    @property
    def cited(self) -> tuple[str, ...]:
        """Every id that is cited, or named in a text."""
        lists = (self.insights, self.agreements, self.minority_report, self.unresolved_debates, self.recommendations)
        cites = [each for listed in lists for finding in listed for each in finding.cites]
        cites += [each for one in self.would_change_if for each in one.cites]
        texts = texts_in(self.model_dump(exclude={TEXT}))
        return tuple(dict.fromkeys((*cites, *(each for text in texts for each in MESSAGE_ID.findall(text)))))


async def concluded(participants: Participants, rounds: Sequence[DiscussionRound]) -> Conclusion:
    """What is concluded from all rounds.

    Raises:
        CouncilFailed: twice, no conclusion could be read; the rounds are on record.
        CouncilRefused: the discussion does not fit the author's window.
        BudgetExhausted, Stopped, MissingRequirement: as they come.
    """
    author = HISTORIAN if HISTORIAN in participants.fixed else MODERATOR
    checks = Checks.of(rounds, participants.cast)
    constraints = (constraints_section(rounds[-1]),) if rounds else ()
    spare = participants.spare(author, "conclude", constraints)
    sections = (*constraints, _conditions(rounds, participants.cast, spare))
    form = conclusion_of(checks)
    result, _ = await participants.ask(
        author, "conclude", rounds=rounds, number=0, sections=sections, read=lambda _: form
    )
    if result.value is None:
        raise CouncilFailed(f"the {author} gave no conclusion: {result.failed}")
    return result.value.model_copy(update={"author": author, **result.took})


@dataclass(frozen=True, slots=True)
class Checks:
    """What a conclusion is held to: the ids of messages that there are, and how an agreement on some came about.

    `agreed_by` is `council.discussion.argument.agreement.agreed_by` of the discussion, `conditions` what of it
    `council.discussion.argument.conditions` has, by the names and ids of experts.
    """

    ids: frozenset[str]
    agreed_by: Callable[[Collection[str]], frozenset[str]]
    conditions: Callable[[Mapping[str, Claim]], tuple[ChangeCondition, ...]] = lambda _: ()

    @classmethod
    def of(cls, rounds: Sequence[DiscussionRound], cast: Cast) -> Checks:
        """Those of a discussion."""
        ids = frozenset(each.id for held in rounds for each in held.messages if not each.failed)
        names = {squeezed(name): each.id for each in cast.experts for name in (each.name, each.id)}

        def conditions(claims: Mapping[str, Claim]) -> tuple[ChangeCondition, ...]:
            known_as = {names[squeezed(name)]: claim for name, claim in claims.items() if squeezed(name) in names}
            return checked_conditions(rounds, cast, known_as)

        return cls(ids, lambda cites: agreed_by(rounds, cast, cites), conditions)


def conclusion_of(checks: Checks) -> Form[Synthesis, Conclusion]:
    """How all rounds are concluded; with ids that do not exist, a conclusion is kept when asked once more."""
    return Form(Synthesis, lambda given: _checked(given, checks))


def _checked(given: Synthesis, checks: Checks) -> Conclusion:
    agreements, claimed = _agreements(given.agreements, checks)
    noted = (*given.noted, *claimed)
    conclusion = Conclusion(
        executive_summary=given.executive_summary,
        insights=tuple(_cited(each, checks.ids) for each in given.insights),
        agreements=agreements,
        minority_report=tuple(_cited(each, checks.ids) for each in given.minority_report),
        unresolved_debates=tuple(
            Unresolved(topic=each.text, why=each.why, cites=known(each.cites, checks.ids)[0])
            for each in given.unresolved_debates
        ),
        position_evolution=given.position_evolution,
        change_conditions=checks.conditions({each.expert: each.claim for each in given.would_change_if}),
        open_questions=given.open_questions,
        recommendations=tuple(_cited(each, checks.ids) for each in given.recommendations),
        meta_observations=given.meta_observations,
        noted=noted,
    )
    if unknown := known(given.cited, checks.ids)[1]:
        listed = ", ".join(unknown)
        conclusion_noted = conclusion.model_copy(
            update={"noted": (*noted, f"it cites messages that do not exist: {listed}")}
        )
        raise Unread(f"There is no message {listed}: cite those that you were shown.", otherwise=conclusion_noted)
    return conclusion


def _conditions(rounds: Sequence[DiscussionRound], cast: Cast, size: int) -> Section:
    """What would change the experts' minds, as they said it: for each it is to be looked up whether it came up."""
    declared = declared_conditions(rounds, cast)
    text = "\n".join(f"{each.author} ({each.source}): {one_line(each.text)}" for each in declared)
    return Section(
        "What would change minds", cut(text, size, "...") if size else "", "Look up whether it came up, and where."
    )


def _cited(given: Finding, ids: Collection[str]) -> Cited:
    cites, unresolved = known(given.cites, ids)
    dissent = given.dissent if isinstance(given, Noticed) else ""
    return Cited(text=given.text, cites=cites, dissent=dissent, unresolved=unresolved)


def _agreements(given: Sequence[Agreed], checks: Checks) -> tuple[tuple[Agreement, ...], tuple[str, ...]]:
    """The agreements as their messages show them, and a phrase for each of which they show less than it claims."""
    made: list[Agreement] = []
    noted: list[str] = []
    for number, each in enumerate(given, start=1):
        cites = known(each.cites, checks.ids)[0]
        claimed = "argument" if squeezed(each.resolved_by) == "argument" else "majority"
        ways = checks.agreed_by(cites)
        way = claimed if claimed in ways else next(iter(ways), "unproven")
        if way != claimed:
            instead = "neither an argument nor a majority" if way == "unproven" else f"that it is by {way}"
            noted.append(f"agreement {number} is claimed to be by {claimed}; its messages show {instead}")
        made.append(Agreement.model_validate({"text": each.text, "resolved_by": way, "cites": cites}))
    return tuple(made), tuple(noted)
