"""What a voice said, as data: its claims and its ballot. Forgiving in form, strict in meaning.

A verdict is read from where one is given - a line `FINAL_VERDICT:` or a JSON object of its own - and never from prose.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from swarmgate.agents.brief import cut, one_line
from swarmgate.agents.participant import Unread
from swarmgate.council.json_objects import PLACES, Mixed, taken_apart, unfenced
from swarmgate.domain.debate import MESSAGE_ID, Ballot, Claim, Reason, Stance, Vote

MOST_READ = 200_000
"""Characters of a text that are looked at: the last ones, where a verdict stands."""

_CLAIMS, _REASONS = 30, 20
"""Of one speech."""

_CLAIM, _EVIDENCE, _REASON, _CITE = 500, 500, 1_000, 80
"""Characters of each."""

_WORDS = {"APPROVE": Vote.APPROVE, "REJECT": Vote.REJECT, "ABSTAIN": Vote.ABSTAIN}
_WORDS |= {"APPROVED": Vote.APPROVE, "REJECTED": Vote.REJECT, "ABSTAINED": Vote.ABSTAIN}

_DECOR = "*_`# \t"
_KEY = r"^[ \t]*(?:[-+][ \t]+)?[*_`# \t]*{}[*_` \t]*[:=][*_` \t]*(.*)$"
_VERDICT = re.compile(_KEY.format(r"FINAL[_ ]VERDICT"), re.MULTILINE | re.IGNORECASE)
_CONFIDENCE = re.compile(_KEY.format("CONFIDENCE"), re.MULTILINE | re.IGNORECASE)
_REASON_HEAD = re.compile(_KEY.format("REASONS?"), re.MULTILINE | re.IGNORECASE)
_BETWEEN = r"(?:[ \t]*[,;|(][ \t]*|[ \t]+(?:[-\u2013\u2014][ \t]+)?)"
_WORD_AND_NUMBER = re.compile(
    rf"([A-Za-z]+)[*_`]*(?:{_BETWEEN}(?:confidence)?[ \t:=]*([0-9.]+[ \t]*%?)[ \t]*\)?)?"
    rf"(?:{_BETWEEN}reasons?[ \t]*[:=][ \t]*(.+))?",
    re.IGNORECASE,
)
"""`APPROVE`, `APPROVE (confidence 0.8)`, `APPROVE | confidence: 80% | reasons: ...`; whatever else stands there is read
as no verdict: `APPROVE if the tests pass`."""

_BARE_MARK = re.compile(r"^([*_`# \t]*FINAL[_ ]VERDICT)[*_` \t]*(?=[{\n]|\Z)", re.MULTILINE | re.IGNORECASE)
"""The mark without its colon, before an object or at the end of a line."""

_CITES = ("cites", "citations", "message_ids", "messages", "ids")
_NUMBER = re.compile(r"([0-9]*\.?[0-9]+)[ \t]*(%?)")
_ITEM = re.compile(r"^[ \t]*(?:[-*+\u2022]|[0-9]{1,3}[.)])[ \t]+(.*)$")
_FENCE = re.compile(r"[ 	]*(```|~~~)")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(`*]*[A-Z0-9])")
_LETTER = re.compile(r"[^\W\d_]")

WHAT_IS_MISSING = (
    'End with a line `FINAL_VERDICT:` and one JSON object {"verdict": "APPROVE" or "REJECT" or "ABSTAIN", '
    '"confidence": a number from 0 to 1, "reasons": [{"text": "...", "cites": ["r1-msg-001"]}]}.'
)


# --- ballots ---


def ballot_of(text: str, shown: Collection[str]) -> Ballot:
    """The ballot in a text; `shown` are the ids of the messages that its voice could read.

    Raises:
        Unread: there is no verdict, an unknown one, two different ones, or no confidence.
    """
    mixed = taken_apart(_BARE_MARK.sub(r"\1: ", text[-MOST_READ:]))
    objects = [each for each in map(_with_verdict, alone(mixed)) if each]
    votes = {_vote(each["verdict"]) for each in objects} | set(map(_vote, verdict_lines(mixed.text)))
    if not votes:
        raise Unread("There is no FINAL_VERDICT in your answer.", WHAT_IS_MISSING)
    if len(votes) > 1:
        both = " and ".join(sorted(votes))
        raise Unread(f"Your answer gives two different verdicts, {both}. Give one.", WHAT_IS_MISSING)
    return Ballot(
        vote=votes.pop(), confidence=_one_confidence(objects, mixed.text), reasons=_reasons(objects, mixed.text, shown)
    )


def has_ballot(text: str, shown: Collection[str]) -> Ballot | None:
    """The ballot in a text, if there is one that can be read."""
    try:
        return ballot_of(text, shown)
    except Unread:
        return None


def _with_verdict(found: Mapping[str, Any]) -> dict[str, Any] | None:
    """The object with its verdict under `verdict`, whatever the key's spelling; None: it gives none."""
    keys = {str(key).strip().lower().replace(" ", "_"): value for key, value in found.items()}
    inner = keys.get("final_verdict")
    if isinstance(inner, dict):
        return _with_verdict(inner)
    if "verdict" in keys:
        return keys
    return {**keys, "verdict": inner} if inner is not None else None


def _vote(word: Any) -> Vote:
    known = _WORDS.get(word.strip(_DECOR + ".!\"'").upper()) if isinstance(word, str) else None
    if known is None:
        raise Unread(f"{cut(one_line(str(word)), 60, '...')!r} is no verdict.", WHAT_IS_MISSING)
    return known


def alone(mixed: Mixed) -> tuple[dict[str, Any], ...]:
    """The objects on lines of their own, or behind `FINAL_VERDICT:`."""
    return mixed.alone(_VERDICT)


def verdict_lines(text: str) -> Iterator[str]:
    """The words behind the lines `FINAL_VERDICT: ...` of a text without its objects; before an object stand none."""
    plain = unfenced(text)
    for found in _VERDICT.finditer(plain):
        said = found[1].strip(_DECOR) or _next_line(plain, found.end())
        if PLACES.match(said):
            continue
        match = _beside(said)
        yield match[1] if match else said


def prose_above(text: str) -> str:
    """What stands before the first line `FINAL_VERDICT: ...` of a text without its objects."""
    plain = PLACES.sub("", unfenced(text))
    mark = _VERDICT.search(plain)
    return (plain[: mark.start()] if mark else plain).strip()


def reasons_below(text: str, shown: Collection[str]) -> list[Reason]:
    """The reasons in lines of a text without its objects: beside the verdict, and below `REASONS:`."""
    beside = (_beside(each[1]) for each in _VERDICT.finditer(text))
    said = [each[3] for each in beside if each and each[3]]
    return [_reason(line, (), shown) for line in (*said, *_reason_lines(unfenced(text)))]


def _beside(said: str) -> re.Match[str] | None:
    """The verdict, the confidence and the reasons in what stands behind the mark, on its line."""
    return _WORD_AND_NUMBER.fullmatch(said.strip(_DECOR + ".!\"'"))


def _next_line(text: str, at: int) -> str:
    return next((line.strip(_DECOR) for line in text[at:].splitlines() if line.strip()), "")


def _one_confidence(objects: Iterable[Mapping[str, Any]], text: str) -> float:
    found = {_number(each["confidence"]) for each in objects if each.get("confidence") is not None}
    if not found:
        beside = (_beside(each[1]) for each in _VERDICT.finditer(text))
        said = [each[2] for each in beside if each and each[2]]
        found = {_number(each) for each in (*said, *(line[1] for line in _CONFIDENCE.finditer(text)))}
    if len(found) != 1:
        what = "gives two different confidences" if found else "gives a verdict without a confidence"
        raise Unread(f"Your answer {what}.", WHAT_IS_MISSING)
    return found.pop()


def _number(value: Any) -> float:
    """A confidence from 0 to 1, also as text, also in percent."""
    given = float("nan")
    if isinstance(value, int | float) and not isinstance(value, bool):
        given = float(value) if abs(value) <= 1 else math.nan
    elif isinstance(value, str) and (found := _NUMBER.fullmatch(value.strip(_DECOR + "()").rstrip("."))):
        given = float(found[1]) / (100 if found[2] else 1)
    if not 0 <= given <= 1:
        shown = cut(one_line(str(value)), 60, "...")
        raise Unread(f"{shown!r} is no confidence: it is a number from 0 to 1.", WHAT_IS_MISSING)
    return given


def _reasons(objects: Iterable[Mapping[str, Any]], text: str, shown: Collection[str]) -> tuple[Reason, ...]:
    found = [reason for each in objects for reason in reasons_of(each.get("reasons", each.get("reason")), shown)]
    return tuple(dict.fromkeys(found or reasons_below(text, shown)))[:_REASONS]


def reasons_of(value: Any, shown: Collection[str]) -> list[Reason]:
    """The reasons that a JSON value spells: objects with `text` and `cites`, or texts; `shown` are ids that exist."""
    entries = value if isinstance(value, list) else [value]
    found = []
    for entry in entries[:_REASONS]:
        if isinstance(entry, dict):
            text = next((entry[key] for key in ("text", "reason", "claim") if isinstance(entry.get(key), str)), "")
            cites = next((entry[key] for key in _CITES if entry.get(key)), ())
            named = cites if isinstance(cites, list) else [cites]
            reason = _reason(text, [each for each in named if isinstance(each, str)], shown)
        else:
            reason = _reason(entry if isinstance(entry, str) else "", (), shown)
        if reason.text or reason.cites or reason.unresolved:
            found.append(reason)
    return found


def _reason(text: str, cites: Iterable[str], shown: Collection[str]) -> Reason:
    named = [cut(one_line(each).strip("[]()"), _CITE, "...") for each in cites]
    ids = list(dict.fromkeys(filter(None, (*named, *MESSAGE_ID.findall(text)))))
    return Reason(
        text=cut(text, _REASON, "..."),
        cites=tuple(each for each in ids if each in shown),
        unresolved=tuple(each for each in ids if each not in shown),
    )


def _reason_lines(text: str) -> Iterator[str]:
    """What stands behind `REASONS:`: the rest of its line, then the items of the list below it."""
    head = _REASON_HEAD.search(text)
    if head is None:
        return
    if head[1].strip(_DECOR):
        yield head[1].strip()
    for line in text[head.end() :].splitlines():
        item = _ITEM.match(line)
        if item:
            yield item[1]
        elif line.strip():
            return


# --- claims ---


def claims_of(text: str, message: str) -> tuple[Claim, ...]:
    """The claims of a speech, named after its message: those it lists as JSON, else each sentence of its prose."""
    mixed = taken_apart(text[-MOST_READ:])
    listed = [claim for each in mixed.objects for claim in _listed(each)]
    given = any(isinstance(each.get("claims"), list) and not each["claims"] for each in mixed.objects)
    found = listed if listed or given else [{"text": each} for each in _sentences(mixed)]
    distinct: dict[str, dict[str, Any]] = {}
    for each in found:
        distinct.setdefault(one_line(each["text"]).casefold(), each)
    kept = list(distinct.values())[:_CLAIMS]
    return tuple(_claim(f"{message}-c{number}", each) for number, each in enumerate(kept, start=1))


def _listed(found: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The entries of `claims` that say something."""
    claims = found.get("claims")
    for entry in claims if isinstance(claims, list) else ():
        said = entry if isinstance(entry, dict) else {"text": entry}
        text = said.get("text", said.get("claim"))
        if isinstance(text, str) and _LETTER.search(text):
            yield {**said, "text": text}


def _claim(name: str, said: Mapping[str, Any]) -> Claim:
    stance, evidence = str(said.get("stance", "")).strip().lower(), said.get("evidence", "")
    known = Stance(stance) if stance in set(Stance) else Stance.NEUTRAL
    shown = "; ".join(map(str, evidence)) if isinstance(evidence, list) else str(evidence or "")
    return Claim(
        id=name, text=cut(one_line(said["text"]), _CLAIM, "..."), stance=known, evidence=cut(shown, _EVIDENCE, "...")
    )


def _sentences(mixed: Mixed) -> Iterator[str]:
    """The sentences and list items of the prose before the verdict; no code, no quotation, no heading."""
    prose = PLACES.sub("", _without_code(mixed.text))
    verdict = _VERDICT.search(prose)
    paragraph = ""
    for line in (prose[: verdict.start()] if verdict else prose).splitlines():
        item = _ITEM.match(line)
        if item or not line.strip() or line.lstrip()[0] in "#>":
            yield from _split(paragraph)
            paragraph = item[1] if item else ""
        else:
            paragraph = f"{paragraph} {line}"
    yield from _split(paragraph)


def _split(paragraph: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(paragraph):
        plain = sentence.strip(_DECOR)
        if _LETTER.search(plain):
            yield plain


def _without_code(text: str) -> str:
    """The lines outside of fences; one that is never closed reaches to the end."""
    kept, opened = [], ""
    for line in text.splitlines():
        fence = _FENCE.match(line)
        if fence and not opened:
            opened = fence[1]
        elif fence and fence[1] == opened:
            opened = ""
        elif not opened:
            kept.append(line)
    return "\n".join(kept)
