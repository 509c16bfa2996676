"""Whether a claim was made before: the same in other words, or a new one.

Two claims are one where the likeness of their content words reaches the threshold and none of the guards speaks
against it: another stance, a negation on one side, other numbers or identifiers, an opposite in the place of a word. A
measure of strings sees little in these, and a reader all. In doubt a claim is new: a debate that goes on costs a round,
one that stops too early costs the argument.

The measure is rapidfuzz's `ratio` over the stems of the content words in order of the alphabet. On the 50 labelled
pairs of `tests/council/pairs.py`, at 90 and with the guards, it errs in none; `ratio` and `token_sort_ratio` of the
plain text miss 16 and 10 of 23 repetitions, `token_set_ratio` of the stems calls a claim old that only begins like
another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from swarmgate.domain.debate import MESSAGE_ID, Claim, Novelty, Speech, Stance

_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nothing|nobody|neither|nor|without|cannot|lacks?|lacking|missing|fails? to|un(?=able\b)"
    r"|[a-z]+n't)(?![a-z])"
)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*")
_IDENTIFIER = re.compile(
    r"`([^`]+)`"  # marked as code
    r"|\b(\w+(?:[./:_]\w+)+(?:\(\))?)"  # a.b, a/b.py, a_b
    r"|\b([a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\w+\(\))"  # camelCase, PascalCase, call()
    r"|\b([A-Z]{2,}[A-Z0-9]*|[A-Za-z]+[0-9]+\w*)\b"  # HTTP, SHA256, v2
)
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
_NAMED_NUMBERS = {name: str(number) for number, name in enumerate(_NUMBERS.split())}
_FILLERS = """
a an the this that these those it its is are was were be been being am do does did has have had of in on at to for by
with from as and or but so then than there here will would can could should shall may might must very just also only
really quite rather still we i you they he she our their your my us them which who what when where because since if
while such some any all each every both more most much many even i'm it's that's there's
"""
_EMPTY = frozenset(_FILLERS.split())
"""Words that say nothing about what is claimed."""

_OPPOSITES = """
before/after first/last read/write increase/decrease raise/lower rise/fall grow/shrink more/less most/least
faster/slower fast/slow higher/lower high/low above/below over/under safe/unsafe valid/invalid correct/incorrect
right/wrong good/bad better/worse pass/fail succeed/fail accept/reject approve/reject allow/deny allow/forbid
enable/disable open/close start/stop add/remove create/delete insert/delete lock/unlock encrypt/decrypt client/server
public/private sync/async synchronous/asynchronous minimum/maximum min/max input/output always/sometimes often/rarely
early/late earlier/later left/right internal/external local/remote encode/decode sender/receiver reader/writer
producer/consumer caller/callee needed/unneeded old/new simple/complex simpler/complex cheap/expensive easy/hard
sufficient/insufficient stable/unstable necessary/unnecessary possible/impossible complete/incomplete
consistent/inconsistent bounded/unbounded
"""
_ENDINGS = ("ing", "ed", "es", "s", "ly")
_STEM = 4
"""Letters that are left of a word when an ending is taken off, at least."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """What of a claim is compared: its content words in order of the alphabet, and what the guards look at."""

    words: str
    stems: frozenset[str]
    stance: Stance
    negations: int
    names: frozenset[str]


def judged(claims: Iterable[Claim], earlier: Sequence[Claim], *, threshold: float) -> tuple[Novelty, ...]:
    """Each claim against those before it: the earlier ones, and the ones of its own round that stand before it.

    Args:
        claims: of one round, in order of seat.
        earlier: of the rounds before.
        threshold: likeness, 0 to 100, from which a claim is an old one.
    """
    known = [(each, _shape(each)) for each in earlier]
    found = []
    for claim in claims:
        shape = _shape(claim)
        found.append(_nearest(claim, shape, known, threshold))
        known.append((claim, shape))
    return tuple(found)


def claims_in(speeches: Iterable[Speech]) -> tuple[Claim, ...]:
    """All claims of speeches, in order."""
    return tuple(claim for speech in speeches for claim in speech.claims)


def _nearest(claim: Claim, shape: _Shape, known: Sequence[tuple[Claim, _Shape]], threshold: float) -> Novelty:
    """The judgement; where an equal one is known that is the nearest, else the likest of all."""
    from rapidfuzz import fuzz  # noqa: PLC0415 - late: only a debate needs it

    likest, name = 0.0, ""
    for other, its in known:
        likeness = fuzz.ratio(shape.words, its.words)
        if likeness >= threshold and _same_but_for_words(shape, its):
            return Novelty(claim=claim.id, new=False, nearest=other.id, similarity=round(likeness, 1))
        if likeness > likest:
            likest, name = likeness, other.id
    return Novelty(claim=claim.id, new=True, nearest=name, similarity=round(likest, 1))


def _same_but_for_words(one: _Shape, other: _Shape) -> bool:
    if one.stance is not other.stance or one.negations != other.negations or one.names != other.names:
        return False
    left, right = one.stems - other.stems, other.stems - one.stems
    return not any(pair & left and pair & right for pair in _OPPOSITE_STEMS)


def _shape(claim: Claim) -> _Shape:
    bare = MESSAGE_ID.sub(" ", claim.text).replace("\u2019", "'")
    named = {next(filter(None, found)).strip("()").casefold() for found in _IDENTIFIER.findall(bare)}
    words = re.findall(r"[\w']+", bare.casefold())
    numbers = set(_NUMBER.findall(bare)) | {_NAMED_NUMBERS[word] for word in words if word in _NAMED_NUMBERS}
    stems = [_stem(word) for word in words if word not in _EMPTY]
    return _Shape(
        words=" ".join(sorted(stems or words)),
        stems=frozenset(stems),
        stance=claim.stance,
        negations=len(_NEGATION.findall(bare.casefold())),
        names=frozenset(named | numbers),
    )


def _stem(word: str) -> str:
    """The word without its ending."""
    word = _NAMED_NUMBERS.get(word, word)
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word.removesuffix(ending).removesuffix("e")
    return word.removesuffix("e") if len(word) > _STEM else word


_OPPOSITE_STEMS = tuple(frozenset(map(_stem, pair.split("/"))) for pair in _OPPOSITES.split())
