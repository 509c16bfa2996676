"""Puts what the moderator and the historian found in words, the same for files, page, terminal and participants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from swarmgate.council.discussion.findings import (
    Agreement,
    Assessment,
    Cited,
    CommonPoint,
    ConcludedInsight,
    Conclusion,
    Disagreement,
    EvidenceWeight,
    Level,
    MinorityView,
    OpenQuestion,
    ProposedAction,
    Quoted,
    Reopening,
    Stance,
    Strength,
    Unresolved,
)
from swarmgate.council.views.formatting import many


class Entry(NamedTuple):
    """A statement, the ids that it rests on, and what there is to say of it, a line each."""

    text: str
    cites: Sequence[str] = ()
    details: Sequence[str] = ()

    @property
    def head(self) -> str:
        """The statement with its ids."""
        return f"{self.text} [{', '.join(self.cites)}]" if self.cites else self.text

    @property
    def line(self) -> str:
        """All of it on one line."""
        return ": ".join(filter(None, (self.head, "; ".join(self.details))))

    @property
    def words(self) -> str:
        """All of it, a line each."""
        return "\n".join((self.head, *self.details))


class Group(NamedTuple):
    """Entries of one kind. `how` tells agreements apart."""

    title: str
    entries: Sequence[Entry]
    how: str = ""


_HOW = {"argument": "resolved by argument", "majority": "resolved by majority", "unproven": "claimed, unproven"}


def concluded(conclusion: Conclusion) -> list[Group]:
    """What was concluded, kind by kind; one of which there is nothing is left out."""
    agreed = [
        Group("Agreements", [_agreement(each) for each in conclusion.agreements if each.resolved_by == way], how)
        for way, how in _HOW.items()
    ]
    groups = [
        Group("Insights", [_finding(each, conclusion.author) for each in conclusion.insights]),
        *agreed,
        Group("Minority report", list(map(_minority, conclusion.minority_report))),
        Group("Unresolved debates", list(map(_debate, conclusion.unresolved_debates))),
        Group("Recommendations", [_action(each, conclusion.author) for each in conclusion.recommendations]),
    ]
    return [each for each in groups if each.entries]


def journeys(conclusion: Conclusion) -> list[Entry]:
    """How the position of each expert went, as the author of the conclusion has it."""
    return [Entry(f"{each.expert}: {' -> '.join(each.journey)}", each.cites) for each in conclusion.journeys]


def assessed(assessment: Assessment) -> list[Group]:
    """What the moderator found in a round."""
    groups = [
        Group("Insights", [Entry(each.text, each.source, _novelty(each.novelty)) for each in assessment.insights]),
        Group("Agreements, says the moderator", list(map(agreement, assessment.agreements))),
        Group("Active disagreements", list(map(disagreement, assessment.active_disagreements))),
    ]
    return [each for each in groups if each.entries]


def agreement(each: CommonPoint) -> Entry:
    """What is agreed, how firmly and by whom."""
    return Entry(each.point, (), _held(each.supporters, each.strength))


def disagreement(each: Disagreement) -> Entry:
    """What is not agreed, a line for each side."""
    return Entry(each.point, (), [*map(_stance, each.positions)])


def question(each: OpenQuestion, *where: str) -> Entry:
    """An open question, with where it was asked."""
    at = f" ({', '.join(where)})" if where else ""
    return Entry(
        f"{each.question}{at}",
        (),
        [*_told("Why it is open", each.why_open), *_told("How to go about it", each.suggested_approach)],
    )


def reopening(each: Reopening) -> list[str]:
    """How the moderator took a discussion up, a line each."""
    if each.failed:
        return [f"The moderator did not take it up: {each.failed}"]
    return [
        *_told("Most productive tension", each.tension),
        *_told("Most important open question", each.question),
        *_told("Settled of the tension map", each.settled),
        *_told("Proposed for the next round", each.topic),
        *_told("Framing", each.framing),
        *(f"noted: {noted}" for noted in each.noted),
    ]


def confidence(claimed: Level | None, reason: str, weight: EvidenceWeight | None, author: str) -> list[str]:
    """How sure something is: what its author says, and what the links say where that is something else."""
    because = f" ({reason.removesuffix('.')})" if reason else ""
    if weight is None:
        return [f"Confidence: {claimed}{because}"] if claimed else []
    against = f"{weight.countered} against it, {weight.unanswered} of them unanswered"
    counted = f"{many(weight.cited, 'message')} for it, {against}"
    if claimed in (None, weight.confidence):
        return [f"Confidence: {weight.confidence}{because}: {counted}"]
    return [f"Confidence: {claimed}, says the {author}{because}; {weight.confidence} by its evidence: {counted}"]


# --- the kinds ---


def _finding(each: ConcludedInsight, author: str) -> Entry:
    details = [
        *filter(None, [each.description]),
        *confidence(each.confidence, each.confidence_reason, each.weight, author),
        *(f"For it: {_quoted(one)}" for one in each.supporting_evidence if one.summary),
        *(f"Against it: {_quoted(one)}{_refuted(one)}" for one in each.dissenting_views),
    ]
    return _cited(each, details)


def _quoted(each: Quoted) -> str:
    return ": ".join(filter(None, (", ".join(each.cites), each.summary)))


def _refuted(each: Quoted) -> str:
    if each.refuted is None:
        return ""
    shown = "" if each.answered or not each.refuted else ", though no message answers it"
    return f" ({'refuted' if each.refuted else 'not refuted'}{shown})"


def _cited(each: Cited, details: Iterable[str]) -> Entry:
    lost = _told("Names what is not there", ", ".join(each.unresolved))
    return Entry(each.text, each.cites, [*details, *_told("Dissent", each.dissent), *lost])


def _agreement(each: Agreement) -> Entry:
    return Entry(each.text, each.cites, _held(each.supporters, each.strength))


def _held(supporters: Sequence[str], strength: Strength | None) -> list[str]:
    words = ", ".join(filter(None, (strength, f"supported by {', '.join(supporters)}" if supporters else "")))
    return [words.capitalize() if strength else words] if words else []


def _minority(each: MinorityView) -> Entry:
    valid = {True: "It still holds", False: "It no longer holds", None: ""}[each.still_valid]
    details = [
        *_told("Advocate", each.advocate),
        *_told("Why it was not adopted", each.reason),
        *filter(None, [valid]),
        *_told("Why it matters", each.note),
    ]
    return _cited(each, details)


def _debate(each: Unresolved) -> Entry:
    return Entry(each.topic, each.cites, [*map(_stance, each.positions), *_told("Why", each.why)])


def _stance(each: Stance) -> str:
    advocates = f" ({', '.join(each.advocates)})" if each.advocates else ""
    arguments = f": {'; '.join(each.arguments)}" if each.arguments else ""
    return f"{each.position}{advocates}{arguments}"


def _action(each: ProposedAction, author: str) -> Entry:
    sure = confidence(each.confidence, "", each.weight, author)
    return _cited(each, [*sure, *_told("Risk", each.risk), *_told("First", each.prerequisite)])


def _novelty(level: Level | None) -> list[str]:
    return [f"Novelty: {level}"] if level else []


def _told(title: str, text: str) -> Iterator[str]:
    yield from [f"{title}: {text}"] if text else []
