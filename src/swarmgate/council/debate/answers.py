"""Parses a debate speech into data: its claims and its ballot.

A verdict is read from the end of the answer (`closing`) and never from prose.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from swarmgate.agents.briefs.brief import cut, one_line
from swarmgate.agents.tools.answer_text import Unread
from swarmgate.agents.tools.answers import Answer, Form, called
from swarmgate.council.debate.closing_verdict import DECOR, ITEM, Closing, closing, prose
from swarmgate.council.debate.model import Claim, Stance
from swarmgate.domain.review.votes import MESSAGE_ID, Ballot, Reason, Vote
from swarmgate.llm.parsing.json_objects import Line, answer_lines, taken_apart

MOST_READ = 200_000
"""Characters of a text in which claims are looked for: the last ones."""

_CLAIMS, _REASONS = 30, 20
"""Of one speech."""

_CLAIM, _EVIDENCE, _REASON, _CITE = 500, 500, 1_000, 80
"""Characters of each."""

_ASIDE = 240
"""Characters of prose beside an empty list of claims that say no more than that there is nothing new."""

_ARGUES = 3
"""Words of a reason that says more than yes or no."""

_WORDS = {"APPROVE": Vote.APPROVE, "REJECT": Vote.REJECT, "ABSTAIN": Vote.ABSTAIN}
_WORDS |= {"APPROVED": Vote.APPROVE, "REJECTED": Vote.REJECT, "ABSTAINED": Vote.ABSTAIN}

_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})[ \t]?(%?)")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(`*]*[A-Z0-9])")
_LETTER = re.compile(r"[^\W\d_]")

WHAT_IS_MISSING = (
    "Call submit_answer with these fields; without tools, end with a line `FINAL_VERDICT:` and one JSON object "
    '{"verdict": "APPROVE" or "REJECT" or "ABSTAIN", '
    '"confidence": a number from 0 to 1, "reasons": [{"text": "...", "cites": ["r1-msg-001"]}]}. '
    "Write nothing after it."
)


# --- ballots ---


def vote_of(word: Any) -> Vote:
    """The vote that a word stands for.

    Raises:
        Unread: none.
    """
    known = _WORDS.get(word.strip(DECOR + ".!\"'").upper()) if isinstance(word, str) else None
    if known is None:
        raise Unread(f"{cut(one_line(str(word)), 60, '...')!r} is no verdict.", WHAT_IS_MISSING)
    return known


def confidence_of(value: Any) -> float:
    """A confidence from 0 to 1, also as text, also in percent.

    Raises:
        Unread: it is none.
    """
    given = float("nan")
    if isinstance(value, int | float) and not isinstance(value, bool):
        given = float(value) if abs(value) <= 1 else math.nan
    elif isinstance(value, str) and (found := _NUMBER.fullmatch(value.strip(DECOR + "()\"'").rstrip("."))):
        given = float(found[1]) / (100 if found[2] else 1)
    if not 0 <= given <= 1:
        visible = cut(one_line(str(value)), 60, "...")
        raise Unread(f"{visible!r} is no confidence: it is a number from 0 to 1.", WHAT_IS_MISSING)
    return abs(given)


def _listed_reasons(value: Any) -> list[Any]:
    entries = value if isinstance(value, list) else [value]
    return [each if isinstance(each, dict) else {"text": each} for each in entries[:_REASONS]]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _as_texts(value: Any) -> list[str]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]


class Grounds(Answer):
    """A reason as an answer has it."""

    text: Annotated[str, BeforeValidator(_as_text)] = called("text", "reason", "claim", default="")
    cites: Annotated[tuple[str, ...], BeforeValidator(_as_texts)] = called(
        *("cites", "citations", "message_ids", "messages", "ids"), default=(), description="Ids of messages."
    )


Reasons = Annotated[tuple[Grounds, ...], BeforeValidator(_listed_reasons)]


class Voted(Answer):
    """A speech that ends with a vote."""

    text: str = Field("", description="Your speech.")
    verdict: Annotated[Vote, BeforeValidator(vote_of)] = called("verdict", "finalVerdict", "vote")
    confidence: Annotated[float, BeforeValidator(confidence_of)] = Field(description="From 0 to 1.")
    reasons: Reasons = called(
        "reasons", "reason", default=(), description="Why, with ids of messages that you were shown."
    )


def voted(visible: Collection[str]) -> Form[Voted, tuple[str, Ballot]]:
    """The form of a vote: the speech as it goes on record, and the ballot; `visible` are the ids that could be read."""
    return Form(
        Voted,
        lambda given: (_spoken(given), _cast(given.verdict, given.confidence, reasons_of_all(given.reasons, visible))),
        asked=WHAT_IS_MISSING,
        in_text=lambda text: (text, ballot_of(text, visible)),
    )


def _spoken(given: Voted) -> str:
    """A speech that was submitted, with its verdict as one in text ends with it.

    Raises:
        Unread: its text ends with another verdict.
    """
    stated = has_ballot(given.text, ())
    if stated and stated.vote is not given.verdict:
        raise Unread(f"Your text says {stated.vote}, and `verdict` {given.verdict}. Give one.")
    verdict = given.model_dump(mode="json", exclude={"text"})
    return f"{given.text}\n\nFINAL_VERDICT:\n{json.dumps(verdict, ensure_ascii=False)}".strip()


def _cast(vote: Vote, confidence: float, reasons: Iterable[Reason]) -> Ballot:
    return Ballot(vote=vote, confidence=confidence, reasons=tuple(dict.fromkeys(reasons))[:_REASONS])


def ballot_of(text: str, visible: Collection[str]) -> Ballot:
    """The ballot at the end of a text; `visible` are the ids of the messages that its participant could read.

    Raises:
        Unread: there is no verdict, an unknown one, two different ones, no confidence, or something stands behind it.
    """
    return _ballot(closing(answer_lines(text), WHAT_IS_MISSING), visible)


def has_ballot(text: str, visible: Collection[str]) -> Ballot | None:
    """The ballot in a text, if there is one that can be read."""
    try:
        return ballot_of(text, visible)
    except Unread:
        return None


def _ballot(found: Closing | None, visible: Collection[str]) -> Ballot:
    votes = {vote_of(each) for each in found.verdicts} if found else set()
    if found is None or not votes:
        raise Unread("There is no FINAL_VERDICT in your answer.", WHAT_IS_MISSING)
    if len(votes) > 1:
        both = " and ".join(sorted(votes))
        raise Unread(f"Your answer gives two different verdicts, {both}. Give one.", WHAT_IS_MISSING)
    return _cast(votes.pop(), _one_confidence(found), closing_reasons(found, visible))


def _one_confidence(found: Closing) -> float:
    given = [each["confidence"] for each in found.objects if each.get("confidence") is not None]
    numbers = {confidence_of(each) for each in (*given, *found.parts["confidence"])}
    if len(numbers) != 1:
        what = "gives two different confidences" if numbers else "gives a verdict without a confidence"
        raise Unread(f"Your answer {what}.", WHAT_IS_MISSING)
    return numbers.pop()


def closing_reasons(found: Closing, visible: Collection[str]) -> list[Reason]:
    """The reasons of a verdict: those of its objects, else those in its lines; `visible` are ids that exist."""
    listed = [
        each for given in found.objects for each in reasons_of(given.get("reasons", given.get("reason")), visible)
    ]
    return listed or lines_as_reasons(found.parts["reasons"], visible)


def lines_as_reasons(lines: Iterable[str], visible: Collection[str]) -> list[Reason]:
    """Each line as a reason; `visible` are ids that exist."""
    return [_reason(each, (), visible) for each in lines]


def reasons_of(value: Any, visible: Collection[str]) -> list[Reason]:
    """The reasons that a JSON value spells: objects with `text` and `cites`, or texts; `visible` are ids that exist."""
    return reasons_of_all([Grounds.given(each) for each in _listed_reasons(value)], visible)


def reasons_of_all(given: Iterable[Grounds], visible: Collection[str]) -> list[Reason]:
    """Reasons as they go on record, those that say something; `visible` are ids that exist."""
    made = (_reason(each.text, each.cites, visible) for each in given)
    return [each for each in made if each.text or each.cites or each.unresolved]


def _reason(text: str, cites: Iterable[str], visible: Collection[str]) -> Reason:
    named = [cut(one_line(each).strip("[]()"), _CITE, "...") for each in cites]
    ids = list(dict.fromkeys(filter(None, (*named, *MESSAGE_ID.findall(text)))))
    return Reason(
        text=cut(text, _REASON, "..."),
        cites=tuple(each for each in ids if each in visible),
        unresolved=tuple(each for each in ids if each not in visible),
    )


# --- claims ---


def claims_of(text: str, message: str) -> tuple[Claim, ...]:
    """The claims of a speech, named after its message.

    Those that it lists as JSON, else each sentence and list item of its prose outside of fences, thoughts, quotations
    and headings. Beside a list prose is no claim, for the participant was asked to list them; beside an empty one it is
    where there is more of it than a remark. The reasons of a ballot are claims too where they say more than yes or no.
    What is more than 30 stands as one further claim that names how many were left out and a hash of them: others are
    new.
    """
    lines = answer_lines(text[-MOST_READ:])
    found = _ballot_lines(lines)
    listed = [*_listed_in(lines, found.begin if found else len(lines))]
    argued = [each.text for each in closing_reasons(found, ())] if found else []
    listed += [{"text": each} for each in argued if len(_LETTER.findall(each)) and len(each.split()) >= _ARGUES]
    distinct: dict[str, dict[str, Any]] = {}
    for each in listed:
        distinct.setdefault(one_line(each["text"]).casefold(), each)
    entries, left_out = list(distinct.values())[:_CLAIMS], sorted(list(distinct)[_CLAIMS:])
    if left_out:
        digest = hashlib.sha256("\n".join(left_out).encode(errors="surrogatepass")).hexdigest()[:12]
        entries.append({"text": f"{len(left_out)} more claims were left out: `{digest}`"})
    return tuple(_claim(f"{message}-c{number}", each) for number, each in enumerate(entries, start=1))


def _ballot_lines(lines: Sequence[Line]) -> Closing | None:
    """The verdict that ends a speech, if it can be read."""
    try:
        found = closing(lines, "")
        _ballot(found, ())
    except Unread:
        return None
    return found


def _listed_in(lines: Sequence[Line], end: int) -> Iterator[dict[str, Any]]:
    """The claims in lines; prose is looked at up to line `end` alone."""
    objects = taken_apart("\n".join(each.text for each in lines)).objects
    listed = [claim for each in objects for claim in _listed(each)]
    said = prose(lines[:end])
    nothing_new = any(isinstance(each.get("claims"), list) and not each["claims"] for each in objects)
    if listed or (nothing_new and len(said) <= _ASIDE):
        yield from listed
    else:
        yield from ({"text": each} for each in _sentences(said))


def _listed(found: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The entries of `claims` that say something."""
    claims = found.get("claims")
    for entry in claims if isinstance(claims, list) else ():
        said = entry if isinstance(entry, dict) else {"text": entry}
        text = said.get("text", said.get("claim"))
        if isinstance(text, str) and _LETTER.search(text):
            yield {**said, "text": text}


def _claim(name: str, fields: Mapping[str, Any]) -> Claim:
    stance, evidence = str(fields.get("stance", "")).strip().lower(), fields.get("evidence", "")
    known = Stance(stance) if stance in set(Stance) else Stance.NEUTRAL
    visible = "; ".join(map(str, evidence)) if isinstance(evidence, list) else str(evidence or "")
    return Claim(
        id=name,
        text=cut(one_line(fields["text"]), _CLAIM, "..."),
        stance=known,
        evidence=cut(visible, _EVIDENCE, "..."),
    )


def _sentences(text: str) -> Iterator[str]:
    """The sentences and list items of prose; no quotation, no heading."""
    paragraph: list[str] = []
    for line in text.splitlines():
        item = ITEM.match(line)
        if item or not line.strip() or line.lstrip()[0] in "#>":
            yield from _split(" ".join(paragraph))
            paragraph = [item[1]] if item else []
        else:
            paragraph.append(line)
    yield from _split(" ".join(paragraph))


def _split(paragraph: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(paragraph):
        plain = sentence.strip(DECOR)
        if _LETTER.search(plain):
            yield plain
