"""Parses a text into claims, one record a sentence: choices, opposites, limits, versions, negations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise

from swarmgate.automation.drift import choices
from swarmgate.automation.drift.choices import Mention
from swarmgate.automation.drift.limits import Limit, limits, versions
from swarmgate.automation.drift.opposite_words import (
    APART,
    ASIDE,
    BEFORE,
    CONDITIONS,
    INTRODUCERS,
    NARROWS,
    NEGATORS,
    ONCE,
    OPPOSITES,
    PRESENT,
    REMOVERS,
    Opposites,
)
from swarmgate.automation.drift.tokens import GENERIC, clauses, content, stem, tokens, word_set

LONGEST = 4_000
"""As many characters of one text are read; decisions are sentences."""

_LINKS = word_set("is are be stay stays remain remains become becomes as was were being by")
_BEFORE_VERBS = word_set("and to must should will we that which can may could who")
_CODE = re.compile(r"`([^`\n]{1,60})`")
_PREPOSITIONS = word_set("for in of on between inside within across at")
_ALLOWING = word_set("allow allows accept accepts permit permits")
_TELLING = ASIDE - {"compare", "compares", "compared", "comparing", "suitable", "old", "evaluate", "evaluated"}
_ARTICLES = frozenset({"the", "a", "an", "any", "all", "our", "each", "every", "new", "their"})
_GUARDING = word_set(
    "mask masks filter filters detect detects check checks prevent prevents disable disables scan scans block blocks "
    "guard refuse refuses fail fails error errors warn strip redact redacted masked mock mocks stub fake hashed digits "
    "remove lint rule ban switch"
)


@dataclass(frozen=True, slots=True)
class Pole:
    """One side of a pair of opposites, in a sentence; `head` is the subject that it is claimed of, where known."""

    pair: str
    side: int
    head: frozenset[str]


@dataclass(frozen=True, slots=True)
class Denial:
    """What a sentence denies. `verb` is the act itself (`never *log* ...`); empty where a thing is denied."""

    words: frozenset[str]
    verb: str


@dataclass(frozen=True, slots=True)
class Brought:
    """What a part of a sentence brings in: all its content, the first word's stem, and what its verbs are near to."""

    words: frozenset[str]
    verbs: frozenset[str]
    objects: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its claims. `subject` leaves the names of choices out; `scope` is what it says it holds for.

    `present`: it speaks about how things are. `narrows`: the languages, platforms, places that it is meant for,
    `parts`: those of wholes (`opposites.APART`), by the number of the whole.
    `act`: the stem of the verb that an order begins with; empty where the sentence says how something is.
    """

    text: str
    words: frozenset[str]
    subject: frozenset[str]
    scope: frozenset[str]
    mentions: tuple[Mention, ...] = ()
    poles: tuple[Pole, ...] = ()
    limits: tuple[Limit, ...] = ()
    versions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    denials: tuple[Denial, ...] = ()
    brought: tuple[Brought, ...] = ()
    aside: bool = False
    present: bool = False
    narrows: frozenset[str] = frozenset()
    parts: Mapping[int, frozenset[str]] = field(default_factory=dict, hash=False)
    act: str = ""


@lru_cache(maxsize=4_096)
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text. Texts repeat (briefs quote criteria), so the newest are remembered."""
    return tuple(_sentence(clause) for clause in clauses(text[:LONGEST]))


def _sentence(clause: str) -> Sentence:
    lower = clause.lower()
    words = tokens(clause)
    cue = frozenset(words)
    quoted = frozenset(each for code in _CODE.findall(lower) for each in tokens(code)) if "`" in clause else frozenset()
    parts = [part for each in lower.split(",") if (part := tokens(each))] if "," in lower else [words]
    names: set[str] = set()
    named: list[Mention] = []
    poles: list[Pole] = []
    denials: list[Denial] = []
    brought: list[Brought] = []
    for part in parts:
        if choices.may_name(part):
            spans = choices.mentions(part, cue=cue, quoted=quoted)
            named += [mention for _, _, mention in spans]
            names.update(*(part[begin:end] for begin, end, _ in spans))
        poles += _poles(part) if not _pole_words().keys().isdisjoint(part) else []
        denials += _denied(part)
        brought += _brings(part)
    return Sentence(
        clause,
        cue,
        content(word for word in words if word not in names),
        _scope(words, names),
        tuple(named),
        tuple(poles),
        tuple(limit for each in _number_parts(lower) for limit in limits(each)),
        versions(lower) if any(each.isdigit() for each in lower) else (),
        tuple(denials),
        tuple(brought),
        not _TELLING.isdisjoint(cue),
        not PRESENT.isdisjoint(cue),
        (cue - names) & NARROWS,
        _parts(cue),
        stem(words[0]) if words and words[0] not in GENERIC and _LINKS.isdisjoint(cue) else "",
    )


@cache
def _groups() -> dict[str, tuple[int, str]]:
    """Words that part a whole: the number of the whole, and the part."""
    return {word: (n, stem(word)) for n, group in enumerate(APART) for word in group} | {
        word: (len(APART), side) for side, group in (("from", ONCE), ("to", BEFORE)) for word in group
    }


def _parts(words: frozenset[str]) -> dict[int, frozenset[str]]:
    found: dict[int, frozenset[str]] = {}
    for word in words & _groups().keys():
        n, part = _groups()[word]
        found[n] = found.get(n, frozenset()) | {part}
    return found


def _number_parts(lower: str) -> list[str]:
    return re.split(r",(?!\d)", lower)


def _scope(words: Sequence[str], names: set[str]) -> frozenset[str]:
    """The nouns after prepositions: what a sentence says it holds for."""
    found: list[str] = []
    for at, word in enumerate(words):
        if word in _PREPOSITIONS:
            for each in words[at + 1 : at + 5]:
                if each in _ARTICLES:
                    continue
                if each in GENERIC:
                    break
                found.append(each)
    return content(each for each in found if each not in names)


@cache
def _pole_words() -> dict[str, tuple[tuple[tuple[str, ...], Opposites, int], ...]]:
    found: dict[str, list[tuple[tuple[str, ...], Opposites, int]]] = {}
    for pair in OPPOSITES:
        for side, spellings in ((0, pair.one), (1, pair.other)):
            for spelling in spellings.split():
                words = tuple(spelling.split("_"))
                found.setdefault(words[0], []).append((words, pair, side))
    return {first: tuple(sorted(of, key=lambda each: -len(each[0]))) for first, of in found.items()}


def _poles(part: Sequence[str]) -> list[Pole]:
    found, at = [], 0
    while at < len(part):
        hit = next((e for e in _pole_words().get(part[at], ()) if tuple(part[at : at + len(e[0])]) == e[0]), None)
        if hit is None:
            at += 1
            continue
        words, pair, side = hit
        before = part[:at]
        linked = max((n for n, word in enumerate(before) if word in _LINKS), default=-1)
        by_default = list(part[at + len(words) : at + len(words) + 2]) == ["by", "default"] or words[-1] == "default"
        allowed = bool(before) and before[-1] in _ALLOWING
        if (not pair.nearby or not word_set(pair.nearby).isdisjoint(part)) and (
            not pair.predicative or linked >= 0 or by_default or allowed
        ):
            turned = not NEGATORS.isdisjoint(before[-3:])
            found.append(Pole(pair.name, side ^ turned, content(before[:linked]) if linked >= 0 else frozenset()))
        at += len(words)
    return found


def _denied(part: Sequence[str]) -> list[Denial]:
    at = next((n for n, word in enumerate(part) if word in NEGATORS), -1)
    if at < 0 or not CONDITIONS.isdisjoint(part):
        return []
    words = content(word for word in part if word not in NEGATORS and word not in _LINKS)
    follows = next((word for word in part[at + 1 :] if word != "be"), "")
    verb = stem(follows) if part[at] in {"not", "never", "cannot"} and follows and follows not in GENERIC else ""
    return [Denial(words, verb)] if words else []


def _brings(part: Sequence[str]) -> list[Brought]:
    """What is done and brought in; nothing where the part denies, guards, or speaks only about it."""
    known = set(part)
    if not part or known & NEGATORS or known & _GUARDING or known & ASIDE:
        return []
    starts = {
        part[0],
        *(b for a, b in pairwise(part) if a in _BEFORE_VERBS),
        *(part[at + 2] for at, word in enumerate(part[:-2]) if word in {"let", "lets"}),
    }
    near: list[str] = []
    for at, word in enumerate(part):
        if word in INTRODUCERS and known.isdisjoint(REMOVERS):
            for each in part[at + 1 : at + 6]:
                if each in {"that", "which", "to", "for", "so"}:
                    break
                near.append(each)
    return [Brought(content(part), frozenset(map(stem, starts)), content(near))]
