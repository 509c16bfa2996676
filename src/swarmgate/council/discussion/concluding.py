"""The conclusion of a discussion: the historian's, in a lightweight one the moderator's, every cited id checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarmgate.agents.participant import Unread
from swarmgate.council.debate.voting import MOST_TEXT
from swarmgate.council.discussion.agreement import agreed_by
from swarmgate.council.discussion.fields import fields, texts_in
from swarmgate.council.discussion.model import (
    HISTORIAN,
    MODERATOR,
    Agreement,
    Cast,
    Cited,
    Conclusion,
    DiscussionRound,
    Unresolved,
)
from swarmgate.council.discussion.table import Table, constraints_section
from swarmgate.council.discussion.values import first_of, items_of, known, message_ids, text_of, texts_of
from swarmgate.council.objects import squeezed
from swarmgate.domain.debate import MESSAGE_ID
from swarmgate.errors import CouncilFailed

_FIELDS = (
    "executiveSummary",
    "insights",
    "agreements",
    "minorityReport",
    "unresolvedDebates",
    "positionEvolution",
    "openQuestions",
    "recommendations",
    "metaObservations",
)
_CITED = [{"text": "", "cites": ["r1-msg-002"]}]
CONCLUSION_FORM = "Answer with one JSON object: " + json.dumps(
    {
        "executiveSummary": "",
        "insights": [{**_CITED[0], "dissent": "who does not agree, and why"}],
        "agreements": [{**_CITED[0], "resolvedBy": "argument | majority"}],
        "minorityReport": _CITED,
        "unresolvedDebates": [{"topic": "", "why": "", "cites": []}],
        "positionEvolution": "",
        "openQuestions": [""],
        "recommendations": _CITED,
        "metaObservations": "",
    }
)


async def concluded(table: Table, rounds: Sequence[DiscussionRound]) -> Conclusion:
    """What is concluded from all rounds.

    Raises:
        CouncilFailed: twice, no conclusion could be read; the rounds are on record.
        CouncilRefused: the discussion does not fit the author's window.
        BudgetExhausted, Stopped, MissingRequirement: as they come.
    """
    author = HISTORIAN if HISTORIAN in table.fixed else MODERATOR
    checks = Checks.of(rounds, table.cast)
    sections = (constraints_section(rounds[-1]),) if rounds else ()

    def reading(_: object) -> Callable[[str], Conclusion]:
        return lambda text: conclusion_of(text, checks)

    heard, _ = await table.ask(author, "conclude", rounds=rounds, number=0, sections=sections, read=reading)
    if heard.value is None:
        raise CouncilFailed(f"the {author} gave no conclusion: {heard.failed}")
    return heard.value.model_copy(update={"author": author, **heard.took})


@dataclass(frozen=True, slots=True)
class Checks:
    """What a conclusion is held to: the ids of messages that there are, and how an agreement on some came about.

    `agreed_by` is `council.discussion.agreement.agreed_by` of the discussion.
    """

    ids: frozenset[str]
    agreed_by: Callable[[Collection[str]], frozenset[str]]

    @classmethod
    def of(cls, rounds: Sequence[DiscussionRound], cast: Cast) -> Checks:
        """Those of a discussion."""
        ids = frozenset(each.id for held in rounds for each in held.messages if not each.failed)
        return cls(ids, lambda cites: agreed_by(rounds, cast, cites))


def conclusion_of(text: str, checks: Checks) -> Conclusion:
    """The conclusion that an answer gives.

    Raises:
        Unread: it has no summary; or it cites ids that do not exist, with which it is kept when asked once more.
    """
    found, cut = fields(text, _FIELDS, CONCLUSION_FORM, required=("executiveSummary",), most=MOST_TEXT)
    summary = text_of(found["executivesummary"])
    if not summary:
        raise Unread("`executiveSummary` is empty.", CONCLUSION_FORM)
    agreements, claimed = _agreements(found.get("agreements"), checks)
    noted = (*cut, *claimed)
    open_debates = items_of(found.get("unresolveddebates"))
    conclusion = Conclusion(
        executive_summary=summary,
        insights=_cited(found.get("insights"), checks.ids),
        agreements=agreements,
        minority_report=_cited(found.get("minorityreport"), checks.ids),
        unresolved_debates=tuple(_debate(each, checks.ids) for each in open_debates),
        position_evolution=text_of(found.get("positionevolution")),
        open_questions=texts_of(found.get("openquestions")),
        recommendations=_cited(found.get("recommendations"), checks.ids),
        meta_observations=text_of(found.get("metaobservations")),
        noted=noted,
    )
    if unknown := _unknown(found, checks.ids):
        listed = ", ".join(unknown)
        kept = conclusion.model_copy(update={"noted": (*noted, f"it cites messages that do not exist: {listed}")})
        raise Unread(f"There is no message {listed}: cite those that you were shown.", CONCLUSION_FORM, otherwise=kept)
    return conclusion


def _ids(found: Mapping[str, Any]) -> tuple[str, ...]:
    return message_ids(first_of(found, "cites", "source", "sources", "evidence"))


def _cited(value: Any, ids: Collection[str]) -> tuple[Cited, ...]:
    made = []
    for each in items_of(value):
        cites, unresolved = known(_ids(each), ids)
        text, dissent = text_of(first_of(each, "text", "insight") or each), text_of(each.get("dissent"))
        made.append(Cited(text=text, cites=cites, dissent=dissent, unresolved=unresolved))
    return tuple(made)


def _debate(found: Mapping[str, Any], ids: Collection[str]) -> Unresolved:
    topic = text_of(first_of(found, "topic", "text") or found)
    return Unresolved(topic=topic, why=text_of(found.get("why")), cites=known(_ids(found), ids)[0])


def _agreements(value: Any, checks: Checks) -> tuple[tuple[Agreement, ...], tuple[str, ...]]:
    """The agreements as their messages show them, and a phrase for each of which they show less than it claims."""
    made: list[Agreement] = []
    noted: list[str] = []
    for number, each in enumerate(items_of(value), start=1):
        cites = known(_ids(each), checks.ids)[0]
        claimed = "argument" if squeezed(text_of(each.get("resolvedby"))) == "argument" else "majority"
        shown = checks.agreed_by(cites)
        way = claimed if claimed in shown else next(iter(shown), "unproven")
        if way != claimed:
            instead = "neither an argument nor a majority" if way == "unproven" else f"that it is by {way}"
            noted.append(f"agreement {number} is claimed to be by {claimed}; its messages show {instead}")
        text = text_of(first_of(each, "text", "agreement") or each)
        made.append(Agreement.model_validate({"text": text, "resolved_by": way, "cites": cites}))
    return tuple(made), tuple(noted)


def _unknown(found: Mapping[str, Any], ids: Collection[str]) -> tuple[str, ...]:
    """Every id that is cited, or named in a text, and does not exist."""
    lists = ("insights", "agreements", "minorityreport", "unresolveddebates", "recommendations")
    cited = [each for name in lists for item in items_of(found.get(name)) for each in _ids(item)]
    named = [each for text in texts_in(found) for each in MESSAGE_ID.findall(text)]
    return tuple(dict.fromkeys(known((*cited, *named), ids)[1]))
