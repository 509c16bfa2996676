"""Parses numeric limits and versions in a sentence into comparable units."""

from __future__ import annotations

import re
from dataclasses import dataclass

from swarmgate.automation.drift.tokens import content, is_light, stem, tokens, word_set

_UNITS = {
    0.001: "ms millisecond",
    1: "s sec second",
    60: "m min minute",
    3600: "h hr hour",
    86_400: "d day",
    604_800: "week",
    2_592_000: "month",
    31_536_000: "year",
}
_SECONDS = {unit: seconds for seconds, units in _UNITS.items() for unit in units.split()}
_BYTES = {"b": 1, "byte": 1, "kb": 1e3, "kib": 1024, "mb": 1e6, "mib": 2**20, "gb": 1e9, "gib": 2**30, "tb": 1e12}
_ATTEMPTS = frozenset({"retry", "retries", "attempt", "attempts", "try", "tries", "time", "times", "retried"})
_SPELLED = "one two three four five six seven eight nine ten"
NUMBERS = dict(zip(_SPELLED.split(), range(1, 11), strict=True)) | {
    "once": 1,
    "twice": 2,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "ninety": 90,
    "hundred": 100,
}
_VALUE = re.compile(
    rf"(?<![\w.])(?P<n>\d[\d,_]*(?:\.\d+)?|(?:{'|'.join(NUMBERS)})\b)(?P<percent>\s?%)?[\s-]*(?P<u>[a-z]+)?(?:\s+(?P<v>[a-z]+))?"
)
_MOST = re.compile(
    r"(at most|up to|max(imum)?( of)?|(no|not) more than|no longer than|within|limit(ed|s)?( of| to| is)?|over|"
    r"exceeds?|exceeding|longer than|larger than|bigger than|more than|above|<=?)\s*$"
)
_LEAST = re.compile(r"(at least|min(imum)?( of)?|no (less|fewer) than|(shorter|fewer|less) than|below|under|>=?)\s*$")
_EXACT = re.compile(
    r"(after|every|is|are|be|=|:|expires? in|for|have|has|(timeout|ttl|lifetime|length|size) of|older than|to)\s*$"
)
_SOFT = word_set("warn warns warning alert alerts notify simulate wait sleep")
_OUTCOMES = word_set(
    "reject rejects rejected refuse refused accept accepted return returns fail need must shorter longer larger bigger "
    "than up at most over under within exceed every after approximately"
)
_LIFETIME, _RETENTION = "expire", "retention"
_MEASURES = (
    dict.fromkeys(
        word_set("expire expires expired expiry expiration ttl lifetime live lives lived valid validity last lasts"),
        _LIFETIME,
    )
    | dict.fromkeys(
        word_set(
            "keep keeps kept retain retains retained retention delete deletes deleted deletion purge purges "
            "purged remove removes removed older erase erased"
        ),
        _RETENTION,
    )
    | dict.fromkeys(word_set("timeout timeouts"), "timeout")
)
"""Words that say which time of a thing is limited: one word for each such measure."""
_SAYING = word_set(
    "issue issues issued configure configured change changes changed raise lower increase reduce show shows give gives "
    "end ends job task script long length size big large total whole single form via again"
)
"""Words near a limit that say nothing about its subject."""
_CASE = re.compile(r"\b(?:when|if|where|once|whose|which|with)\b")
_NARROWS = re.compile(r"\b(?:for|per|on|in|when|if|during|while|unless|inside)\b(.*)")
_SAME = 0.02
_TIMES_OUT = re.compile(r"\b(?:time|times|timed|timing)[ -]out\b")
_DIGIT = re.compile(r"\d")

_VERSION = re.compile(
    r"\b(python|node(?:\.?js)?|java|go|golang|ruby|php|rust|django|rails|react|vue|angular|postgres(?:ql)?|mysql|redis|"
    r"spring boot|kubernetes|typescript|\.net|dotnet|ubuntu|debian|alpine)"
    r"\s*(?:version\s*)?(?:v|==|=|@)?(\d+)(?:\.(\d+))?(\.\d+)*(\+)?"
)
_BUMP = re.compile(
    r"\b(upgrad\w*|bump\w*|updat\w*|migrat\w*|mov\w* to|support\w*|matrix|newer|later|at least|or above|drop\w*)"
    r"\b|>=|\+"
)


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit: `dimension` is seconds, bytes, percent, or what is counted; `before` and `narrows` tell of what.

    `way` is -1 for a least, 1 for a most, 0 for an exact value. `every` holds all content of the sentence.
    """

    dimension: str
    value: float
    way: int
    before: frozenset[str]
    narrows: frozenset[str]
    every: frozenset[str]


def limits(text: str) -> tuple[Limit, ...]:
    """The limits in one part of a sentence, in lower case; none where it only warns at them."""
    if (not _DIGIT.search(text) and NUMBERS.keys().isdisjoint(text.split())) or not _SOFT.isdisjoint(text.split()):
        return ()
    found = []
    text = _TIMES_OUT.sub("timeout", text)
    for match in _VALUE.finditer(text):
        before = text[: match.start()]
        way = 1 if _MOST.search(before) else -1 if _LEAST.search(before) else 0 if _EXACT.search(before) else None
        measured = _measured(match)
        if way is None and measured and measured[0] == "attempts" and not _ATTEMPTS.isdisjoint(_retries(before)):
            way = 0
        if measured is None or way is None or (way == 0 and _CASE.search(before)):
            continue
        if measured[0] == "seconds" and before.rstrip().endswith("every"):
            measured = ("seconds between", measured[1])
        timed = measured[0].startswith("seconds")
        narrowing = _NARROWS.search(text, match.end("n"))
        found.append(
            Limit(
                *measured,
                way,
                _about(before, timed=timed),
                _about(narrowing[1], timed=timed) if narrowing else frozenset(),
                _about(f"{before} {match['v'] or ''} {text[match.end() :]}", timed=timed),
            )
        )
    return tuple(found)


def _retries(before: str) -> list[str]:
    return [word for word in before.split() if word.startswith(("retr", "attempt", "tr"))]


def _measured(match: re.Match[str]) -> tuple[str, float] | None:
    value = float(NUMBERS[match["n"]]) if match["n"] in NUMBERS else float(re.sub("[,_]", "", match["n"]))
    unit, further = match["u"] or "", match["v"] or ""
    if match["percent"]:
        return "percent", value
    if match["n"] in {"once", "twice"}:
        return "attempts", value
    single = unit if unit in _SECONDS or unit in _BYTES else unit.removesuffix("s")
    if single in _SECONDS:
        return "seconds", value * _SECONDS[single]
    if single in _BYTES:
        return "bytes", value * _BYTES[single]
    if unit in _ATTEMPTS or further in _ATTEMPTS:
        return "attempts", value
    return (stem(unit), value) if content([unit]) else None


def _about(text: str, *, timed: bool) -> frozenset[str]:
    """What a part of the text is about; where attempts are counted, the word for them says nothing."""
    words = [word for word in tokens(text) if word not in _OUTCOMES and (word not in _ATTEMPTS or timed)]
    measures = frozenset(_MEASURES[word] for word in words if word in _MEASURES) if timed else frozenset[str]()
    return measures | content(word for word in words if word not in _SAYING and not (timed and word in _MEASURES))


def clash(old: Limit, new: Limit, every: tuple[Limit, ...], context: frozenset[str]) -> bool:
    """Whether a later limit is another one on the same subject.

    Args:
        old: the limit of the decision.
        new: the later one.
        every: all limits of the later sentence: one that repeats the old value speaks of it.
        context: what the later sentence stands under, such as the title of its task.
    """
    if old.dimension != new.dimension or old.way * new.way < 0:
        return False
    if any(each.dimension == old.dimension and _close(old, each) for each in every):
        return False
    beyond = {word for word in (new.before | new.narrows) - old.every if not is_light(word)}
    if beyond:
        return False  # it speaks of something narrower
    wanted = old.before | old.narrows
    return bool(wanted) and not wanted - (new.every | context) and bool(wanted & (new.before | new.every))


def _close(one: Limit, other: Limit) -> bool:
    """The same limit, or the adjacent value that a test of the limit takes."""
    gap = abs(one.value - other.value)
    return gap <= max(one.value, other.value) * _SAME or gap <= 1


def versions(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(what, version) pairs of a text in lower case; none where it speaks of a range, or of going to another."""
    if _BUMP.search(text):
        return ()
    found = {(m[1].replace(".", ""), tuple(filter(None, (m[2], m[3])))) for m in _VERSION.finditer(text)}
    return tuple(sorted(found)) if len({name for name, _ in found}) == len(found) else ()


def other_version(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Whether two versions differ in the parts that both state."""
    return any(a != b for a, b in zip(old, new, strict=False))
