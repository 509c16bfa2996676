"""Splits texts into tokens and stems, and weighs each by how rare it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_TOKEN = re.compile(r"[a-z0-9_+#]+(?:[.'][a-z0-9_+#]+)*")
_NUMBER = re.compile(r"\d[\d_.,]*[a-z%]{0,3}")
_CLAUSES = re.compile(
    r"(?<=[.;!?:])\s+|\n+|[;\u2013\u2014()]|\s-{1,2}\s|"
    r",?\s(?:but|whereas|while|however)\s",
    re.IGNORECASE,
)

DOTTED = frozenset({"next.js", "node.js", "vue.js", "date.fns", "day.js", "chart.js", "socket.io", "asp.net"})
"""Names whose dot belongs to them."""


def word_set(words: str) -> frozenset[str]:
    """A set of words that are parted by blanks: a table that people read."""
    return frozenset(words.split())


_FILE = word_set(
    "py pyi ini cfg toml json jsonl yaml yml md txt js mjs ts tsx jsx db sqlite sqlite3 sql lock html css sh go rs rb "
    "java xml csv env log config conf mod"
)
"""A name that ends so is a file's: its parts name no choice."""
GENERIC = word_set(
    "a an the this that these those it its is are was were be been being do does did has have had will would shall "
    "should must may might can could need needs we our us you your they their i he she and or as at by for from in "
    "into of off on onto out over per than then to up upon via with within without about after before between during "
    "through under until unless when where which who whose while so if else not no nor never none neither cannot dont "
    "use used uses using add adds added make makes made making set sets setting write writes written let lets get gets "
    "go goes going put puts run runs running keep keeps kept do done have having take takes taken implement implements "
    "implemented create creates created build builds built introduce adopt choose chosen chose provide provides "
    "support supports allow allows accept accepts handle handles manage manages managed work works start hold holds "
    "acceptance task step new only just also all any each every everything other own same still yet already now "
    "more most less least fewer max min maximum minimum limit limits limited limiting exceed exceeds value default "
    "defaults project system application app everywhere always ever once one both such like there here what how "
    "decide decided decision choice library libraries tool tools framework package packages dependency dependencies "
    "primary main standard preferred instead rather because since first second last next ensure enforce apply "
    "applies applied provision define mark way time times layer based be via done further expose exposes exposed"
)
"""Words that say nothing about the subject."""

LIGHT = word_set(
    "file column row table field page endpoint id key data record item list entry module class function method test "
    "server client store stored save call name type service request response object string text number "
    "front end back side part line code step config option"
)
"""Words that many subjects share: alone they make none."""

_ENDINGS = ("ations", "ation", "ingly", "ings", "ing", "edly", "ies", "ied", "ed", "es", "s", "ly", "e")
_SHORTEST, _TWO = 3, 2


_ONE_WORD = {
    word: first
    for first, *others in (
        group.split()
        for group in (
            "store save persist",
            "delete remove purge erase",
            "modify change edit",
            "expire expiry expiration",
            "id identifier",
            "mail email",
        )
    )
    for word in others
}
"""Words that are one for the comparison, by their stems."""


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The word without its ending, and one for those that mean the same; rough, and the same for both sides."""
    found = _stem(word)
    return _ONE_STEM.get(found, found)


def _stem(word: str) -> str:
    if len(word) <= _SHORTEST or word.endswith("ss") or not word.isalpha():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            base = word[: -len(ending)]
            if ending in {"ies", "ied"}:
                return base + "y"
            double = len(base) > _SHORTEST and base[-1] == base[-2]
            return base[:-1] if double and (base[-1] == "l" or (ending in {"ing", "ed"} and base[-1] != "s")) else base
    return word[:-1] if word.endswith("ll") else word


_ONE_STEM = {_stem(word): _stem(first) for word, first in _ONE_WORD.items()}

_GENERIC_STEMS = frozenset(map(stem, GENERIC)) | GENERIC
_LIGHT_STEMS = frozenset(map(stem, LIGHT))


def tokens(text: str) -> list[str]:
    """The words of a text in lower case; hyphens and slashes part words, dots do where they are not a name's own."""
    plain = text.lower().replace("\u2019", "'").replace("n't", " not").replace("'s", "")
    found = _TOKEN.findall(plain)
    if not any("." in each for each in found):
        return found
    parted: list[str] = []
    for each in found:
        whole = "." not in each or each in DOTTED or each[0].isdigit() or not _FILE.isdisjoint(each.split(".")[1:])
        parted += [each] if whole else each.split(".")
    return parted


def rows(text: str) -> list[str]:
    """The lines of a file as editors number them: only a line feed ends one."""
    return [row.removesuffix("\r") for row in text.split("\n")]


def clauses(text: str) -> list[str]:
    """The sentences of a text, and the parts of one that stand for themselves."""
    return [part for each in _CLAUSES.split(text) if (part := each.strip(" \t,.*_>-"))]


def content(words: Iterable[str]) -> frozenset[str]:
    """The stems that say what a text is about: no function words, no numbers."""
    return frozenset(filter(None, map(_content_stem, words)))


@lru_cache(maxsize=50_000)
def _content_stem(word: str) -> str:
    """The stem of a word that says something; else empty."""
    found = stem(word)
    silent = word in GENERIC or found in _GENERIC_STEMS or len(found) < _TWO or _NUMBER.fullmatch(found)
    return "" if silent else found


def weight(stems: Iterable[str]) -> float:
    """How much some stems say: 1 each, 0.4 where many subjects share them."""
    return sum(0.4 if each in _LIGHT_STEMS else 1.0 for each in stems)


def is_light(found: str) -> bool:
    """Whether a stem alone makes no subject."""
    return found in _LIGHT_STEMS
