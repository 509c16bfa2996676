"""When two questions ask the same thing: the words that carry meaning are paired; what is left over decides."""

from __future__ import annotations

import re
from collections.abc import Iterable

SAME = 0.75
"""Likeness from which on two questions are the same one."""

_FILLER = re.compile(
    r"a|an|the|is|are|was|were|be|do|does|did|has|have|had|we|you|i|it|its|this|that|these|those|of|in|on|"
    r"at|by|to|for|from|with|and|or|as|our|us|my|your|should|can|could|would|will|shall|must|may|might|how|"
    r"what|which|use|used|using|best|way|recommended|recommend|please|here|need|there|any|some"
)
_TURN = re.compile(r"not|no|never|without|avoid|except|instead|disable|off|nor")
"""Words that turn the sense of a question round."""
_LONG_WORD = 5


def likeness(one: str, other: str) -> float:
    """How sure it is that two questions ask the same, from 0 to 1; 1 when they differ in case and punctuation only.

    Both are reduced to the words that carry meaning, which are then paired, typing errors allowed. A word without a
    partner on both sides means another subject ("encrypt" for "decrypt"); so does one that turns the sense round
    ("not") or that holds a digit ("RS256"): 0. Words that only one side adds lower the score.
    """
    first, second = words(one), words(other)
    if first == second:
        return 1.0
    left, right = meaning(first), meaning(second)
    if not left or not right:
        return 0.0
    lonely, rest = [], list(right)
    for word in left:
        partner = next((each for each in rest if _same(word, each)), None)
        if partner is None:
            lonely.append(word)
        else:
            rest.remove(partner)
    if (lonely and rest) or any(_TURN.fullmatch(word) or re.search(r"\d", word) for word in (*lonely, *rest)):
        return 0.0
    paired = len(left) - len(lonely)
    return 2 * paired / (len(left) + len(right)) * 0.99


def words(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation and genitives; "don't" is "do not"."""
    plain = re.sub("['\u2019]s?\\b", "", re.sub("n['\u2019]t\\b", " not", text.casefold()))
    return re.findall(r"[^\W_]+(?:[.+#][^\W_]+)*[+#]*", plain)


def meaning(words: Iterable[str]) -> list[str]:
    """The words that carry meaning, each once, without their endings."""
    return list(dict.fromkeys(_stem(word) for word in words if not _FILLER.fullmatch(word)))


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2 and not word.endswith("ss"):  # noqa: PLR2004 - a stem
            return word[: -len(ending)]
    return word


def _same(one: str, other: str) -> bool:
    """Whether two words are one, a slip of the fingers allowed: two letters swapped, one too many or too few.

    Another letter is no slip: "attack" is not "attach".
    """
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < _LONG_WORD or short[0] != long[0]:
        return False
    return sorted(short) == sorted(long) or any(short == long[:at] + long[at + 1 :] for at in range(len(long)))
