"""Decides when two questions ask the same: same words in the same order, but for small words and typos.

A question that is taken for another gets a wrong answer, and nobody notices; one that is not recognised costs a call.
So every word counts that may change the answer: "may" and "must", "how" and "need", "in", "failed", "not".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_FILLER = re.compile(
    r"a|an|the|is|are|was|were|be|do|does|did|has|have|had|we|you|i|it|its|this|that|these|those|of|in|on|"
    r"at|by|to|for|from|with|and|or|as|our|us|my|your|should|can|could|would|will|shall|must|may|might|how|"
    r"what|which|use|used|using|best|way|recommended|recommend|please|here|need|there|any|some"
)
_EMPTY = re.compile(r"an?|the|is|are|our|your|my|please")
"""Words that change no answer."""
_ALIKE = {"which": "what", "does": "do", "doing": "do"}
_ASKED_BY = re.compile(r"\b(do|can|may|must|should|could|would|shall|might|need)( not)? (?:i|we|you|one)\b( not)?")
"""Who asks does not matter: "do I" is "do we"."""
_IS = re.compile("\\b(what|which|how|where|who|when|why|that|it|there)['\u2019]s\\b", re.IGNORECASE)
_SIGNS = re.compile(r"[<>=!~]=?(?=\s*\w)|[%$\u20ac\u00a3&|^*/@+-]+(?=\w)")
"""Signs that change what is asked; those of a sentence do not."""
_PROTOCOL = re.compile(r"(?:https?|ftp|smtp|ldap|imap|pop|nntp|amqp|mqtt|coap|rtsp|irc|dn|new|mean|redi|kubernete)s?")
"""Words whose `s` makes another word."""
_NOT_SLIPS = re.compile(
    r"(?:casual/causal complied/compiled complier/compiler marital/martial united/untied sacred/scared silver/sliver "
    r"signing/singing signed/singed prefect/perfect preform/perform desert/dessert filing/filling planed/planned "
    r"staring/starring stared/starred scared/scarred taping/tapping griped/gripped striped/stripped "
    r"striping/stripping sniping/snipping hoping/hopping)".replace(" ", "|")
)
"""Pairs that look like a slip and are two words."""
_SWAPPED, _LEFT_OUT = 6, 10
"""Letters of a word in which two neighbours may be swapped, or one of a double letter is missing; in which any is."""


def same(one: str, other: str) -> bool:
    """Whether two questions ask the same. Wrong answers are worse than asking twice, so in doubt they do not."""
    if _SIGNS.findall(one) != _SIGNS.findall(other):
        return False
    left, right = _asked(one), _asked(other)
    return len(left) == len(right) and all(map(_one_word, left, right)) and (bool(left) or words(one) == words(other))


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


def _asked(question: str) -> list[str]:
    """The words that an answer may depend on, in their order."""
    plain = _ASKED_BY.sub(_without_asker, " ".join(words(_IS.sub(r"\1 is", question))))
    return [_ALIKE.get(word, word) for word in plain.split() if not _EMPTY.fullmatch(word)]


def _without_asker(match: re.Match[str]) -> str:
    """The verb alone: "do we not" and "do not we" are "do not"."""
    return f"{match[1]} not" if match[2] or match[3] else match[1]


def _one_word(one: str, other: str) -> bool:
    """Whether two words are one: the same, one the other's plural, or with a slip of the fingers."""
    return one == other or _plural(one, other) or _plural(other, one) or _slip(one, other)


def _plural(one: str, many: str) -> bool:
    if len(one) < 4 or not one.isalpha() or one[-1] == "s" or _PROTOCOL.fullmatch(one):  # noqa: PLR2004 - `id`, `dn`
        return False
    return many == f"{one}s" or (many == f"{one}es" and one.endswith(("x", "z", "ch", "sh")))


def _slip(one: str, other: str) -> bool:
    """Two neighbours swapped, or a letter left out where that makes no other word: "attack" is not "attach"."""
    short, long = sorted((one, other), key=len)
    if not (short.isalpha() and long.isalpha()) or short[0] != long[0]:
        return False
    if any(_NOT_SLIPS.fullmatch("/".join(pair)) for pair in ((one, other), (other, one))):
        return False
    at = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) == len(long):
        swapped = short[at + 1 : at + 2] + short[at : at + 1]
        return len(long) >= _SWAPPED and short[:at] + swapped + short[at + 2 :] == long
    if len(long) - len(short) != 1 or short[at:] != long[at + 1 :] or at == len(short):
        return False
    return len(long) >= _LEFT_OUT or (len(long) > _SWAPPED and long[at] == long[at - 1])
