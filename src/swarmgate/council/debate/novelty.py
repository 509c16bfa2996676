"""Decides whether a claim repeats an earlier claim in other words or is new.

Two claims are one where they speak for the same side, name the same numbers and identifiers, have the same content
words in the same order, and are as like in the forms of these words as the threshold says. Only a phrase that a
preposition or a conjunction opens may have moved to the front. Whatever can turn a sentence counts as content:
negations, quantifiers, `must` and `may`, `from` and `to`, the `-ed` that tells who is done to from who does. So a
paraphrase counts as new, and so it should: in doubt a claim is new. A debate that goes on costs a round, one that stops
too early costs the argument.

The likeness is rapidfuzz's `ratio` of the content words as they are written. How often this errs is measured on the
labelled pairs of `tests/council/debate/pairs.py` by `test_novelty.py`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz, process

from swarmgate.council.debate.model import Claim, Novelty, Speech
from swarmgate.domain.review.votes import MESSAGE_ID

_ATTRIBUTION = re.compile(
    rf"(?:\b(?:as|see)\s+)?[(\[]?{MESSAGE_ID.pattern}[)\]]?(?:\s+(?:says|said|notes|states|shows|argues)\b)?,?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*")
_IDENTIFIER = re.compile(
    r"`([^`]+)`"  # marked as code
    r"|\b(\w+(?:[./:_]\w+)+(?:\(\))?)"  # a.b, a/b.py, a_b
    r"|\b([a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\w+\(\))"  # camelCase, PascalCase, call()
    r"|\b([A-Z]{2,}[A-Z0-9]*|[A-Za-z]+[0-9]+\w*)\b"  # HTTP, SHA256, v2
    r"|(?<=\w )(A)\b"  # node A
)
_WORD = re.compile(
    r"[\w'\u00c0-\u1fff\u3040-\U0010ffff]+"  # with the marks that `\w` leaves out: vowel signs
    r"|[<>=%$\u20ac\u00a3\u2260\u2264\u2265]|!(?==)|(?<!\S)[-+*/](?=\s|\d)"  # what turns a formula
)
_CONTRACTED = (("can't", "can not"), ("cannot", "can not"), ("won't", "will not"), ("n't", " not"), ("'s", ""))

_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
_NAMED_NUMBERS = {name: str(number) for number, name in enumerate(_NUMBERS.split())}
_FILLERS = """
a an the this that these those which who it its is are was were be been being am do does did of there here then also
very really quite rather still can could will would i'm
"""
_EMPTY = frozenset(_FILLERS.split())
"""Words that say nothing about what is claimed."""

_OPENERS = """
after as at because before by during for from if in into on once since through to under unless until when whenever
where while with without
"""
_PLURAL, _GERUND = 3, 4
"""Letters that are left of a word when `s` or `ing` is taken off, at least."""

_ROW = 32
"""Content words by which the nearest of a new claim is looked for: it is for the record, and decides nothing."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """What of a text is compared: its content words as they are written, their stems, its numbers and identifiers.

    `turned` is the same for all texts that may differ by a fronted phrase alone.
    """

    words: tuple[str, ...]
    stems: tuple[str, ...]
    turned: tuple[str, ...]
    names: frozenset[str]


def judged(claims: Iterable[Claim], earlier: Sequence[Claim], *, threshold: float) -> tuple[Novelty, ...]:
    """Each claim against those before it: the earlier ones, and the ones of its own round that stand before it.

    Args:
        claims: of one round, in order of seat.
        earlier: of the rounds before.
        threshold: likeness, 0 to 100, from which a claim is an old one.
    """
    known = _Known()
    for each in earlier:
        known.add(each)
    found = []
    for claim in claims:
        found.append(known.judge(claim, threshold))
        known.add(claim)
    return tuple(found)


def claims_in(speeches: Iterable[Speech]) -> tuple[Claim, ...]:
    """All claims of speeches, in order."""
    return tuple(claim for speech in speeches for claim in speech.claims)


class _Known:
    """The claims so far: by their words, where an equal one is looked up, and as rows to look for the nearest in."""

    def __init__(self) -> None:
        self._claims: list[Claim] = []
        self._rows: list[str] = []
        self._letters: dict[str, str] = {}
        self._equals: dict[object, list[Claim]] = defaultdict(list)

    def add(self, claim: Claim) -> None:
        shape = _shape(claim.text)
        self._claims.append(claim)
        self._rows.append(self._row(shape))
        self._equals[_key(claim, shape)].append(claim)

    def judge(self, claim: Claim, threshold: float) -> Novelty:
        """The judgement; where an equal one is known that is the nearest, else the one that shares most words."""
        shape = _shape(claim.text)
        for other in self._equals[_key(claim, shape)]:
            its = _shape(other.text)
            if _in_order(shape.stems, its.stems) and (likeness := _likeness(shape, its)) >= threshold:
                return Novelty(claim=claim.id, new=False, nearest=other.id, similarity=likeness)
        best = process.extractOne(self._row(shape), self._rows, scorer=fuzz.ratio, score_cutoff=0.1)
        if best is None:
            return Novelty(claim=claim.id, new=True)
        near = self._claims[best[2]]
        return Novelty(claim=claim.id, new=True, nearest=near.id, similarity=_likeness(shape, _shape(near.text)))

    def _row(self, shape: _Shape) -> str:
        """The first stems, a letter each: rows are compared word by word, ten times as fast as the texts."""
        letters = self._letters
        return "".join(letters.setdefault(stem, chr(0x10000 + len(letters))) for stem in shape.stems[:_ROW])


def _key(claim: Claim, shape: _Shape) -> object:
    """The same for all claims that may be one."""
    return claim.stance, shape.names, shape.turned


def _likeness(one: _Shape, other: _Shape) -> float:
    """Of the content words as they are written, a fronted phrase put back; 0 to 100."""
    words = one.words
    if at := _fronted_at(one.stems, other.stems):
        words = words[at:] + words[:at]
    return round(fuzz.ratio(" ".join(words), " ".join(other.words)), 1)


def _in_order(one: Sequence[str], other: Sequence[str]) -> bool:
    return one == other or _fronted_at(one, other) > 0


def _fronted_at(one: Sequence[str], other: Sequence[str]) -> int:
    """Where the first is to be turned round to be the second, a phrase being moved to or from the front; 0: nowhere."""
    if len(one) != len(other) or one == other:
        return 0
    for at in range(1, len(one)):
        if (one[at] in _FRONTED or one[0] in _FRONTED) and one[at:] == other[:-at] and one[:at] == other[-at:]:
            return at
    return 0


@lru_cache(maxsize=2048)  # a debate has 1,200 claims at most, and each is looked at in every later round
def _shape(text: str) -> _Shape:
    bare = _ATTRIBUTION.sub(" ", unicodedata.normalize("NFC", text)).replace("\u2019", "'")
    named = {next(filter(None, found)).strip("()").casefold() for found in _IDENTIFIER.findall(bare)}
    plain = bare.casefold()
    for short, long in _CONTRACTED:
        plain = plain.replace(short, long)
    words = [_NAMED_NUMBERS.get(word, word) for word in _WORD.findall(plain)]
    content = tuple(word for word in words if word not in _EMPTY) or tuple(words)
    numbers = {*_NUMBER.findall(bare), *(word for word in words if word.isdecimal())}
    stems = tuple(map(_stem, content))
    openers = (at for at, stem in enumerate(stems) if stem in _FRONTED)
    turned = min((stems[at:] + stems[:at] for at in openers), default=stems)
    return _Shape(content, stems, turned, frozenset(named | numbers))


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    """The word without the ending of a plural or a verb; what `-ed` and `-ly` end is another word."""
    if word.endswith("ing") and len(word) >= _GERUND + len("ing"):
        word = word.removesuffix("ing")
    elif word.endswith("s") and not word.endswith("ss") and len(word) > _PLURAL:
        word = word.removesuffix("s").removesuffix("e")
    word = word.removesuffix("e") if len(word) > _PLURAL else word
    return f"{word[:-1]}i" if word.endswith("y") else word


_FRONTED = frozenset(map(_stem, _OPENERS.split()))
"""Words that open a phrase which may stand at either end of a sentence."""
