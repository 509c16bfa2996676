"""Derives from a rule's patterns what a file must contain to match, so that other files are not scanned.

A name that a pattern spells out stands in every file that it matches, in an import at least. So the engine need not
read the files in which one of them is missing: reading a file takes it thirty times as long as we take to look for
words. What stands in quotes counts for nothing: the engine puts texts together before it compares them.
"""

from __future__ import annotations

import keyword
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

Need = str | tuple["Need", ...] | frozenset["Need"]
"""A word; or all of a tuple; or one of a set."""

_TEXT = re.compile(r"""(?:\b[rbfuRBFU]{1,2})?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""")
_METAVARIABLE = re.compile(r"\$\.{0,3}\w+")
_NAME = re.compile(r"[^\W\d]\w*")
_WORD = re.compile(r"\w+")
_EXACT = re.compile(r"\^\(?(\w+(?:\|\w+)*)\)?\$")
"""A condition on a metavariable that lists the words which it may stand for."""
_IS_NAME = r"\.{0}\b|\b(?:def|class)\s+{0}\b|\A{0} = |{0}\."
"""Where in a pattern a metavariable is certainly a name, or ends with one."""


def words_of(text: str) -> frozenset[str]:
    """The set of words of a file."""
    return frozenset(_WORD.findall(text))


def holds(need: Need, words: Container[str]) -> bool:
    """Whether a file with these words may match."""
    if isinstance(need, str):
        return need in words
    if isinstance(need, tuple):
        return all(holds(each, words) for each in need)
    return any(holds(each, words) for each in need)


def need_of(raw: Mapping[str, Any]) -> Need:
    """The words that a rule needs; `()` where it is not for Python alone, or is a taint rule."""
    alone = raw["languages"] in (["python"], ["py"]) and raw.get("mode", "search") == "search"
    return _all(_needs_of(raw)) if alone else ()


def _all(needs: Iterable[Need]) -> tuple[Need, ...]:
    return tuple(dict.fromkeys(each for each in needs if each != ()))


def _needs_of(entry: Mapping[str, Any], alternatives: Sequence[Sequence[str]] = ()) -> Iterator[Need]:
    """What one part of a rule asks for.

    Args:
        entry: the part.
        alternatives: what holds together with it: of each part, the patterns of which one matches.
    """
    yield from _names(_pattern(entry))
    conjunction = [[*map(_pattern, each.get("pattern-either", (each,)))] for each in entry.get("patterns", ())]
    for each in entry.get("patterns", ()):
        yield from _needs_of(each, conjunction)
    if "pattern-either" in entry:
        options = [_all(_needs_of(each)) for each in entry["pattern-either"]]
        yield frozenset(options) if all(options) else ()
    if "metavariable-regex" in entry:
        yield _listed(**entry["metavariable-regex"], patterns=alternatives)
    inner = entry.get("metavariable-pattern", {})
    if "language" not in inner:
        yield from _needs_of(inner) if inner else ()


def _pattern(entry: Mapping[str, Any]) -> str:
    return str(entry.get("pattern") or entry.get("pattern-inside") or "")


def _names(pattern: str) -> Iterator[str]:
    """The names that a pattern spells out."""
    plain = _METAVARIABLE.sub(" ", _TEXT.sub(" ", pattern))
    return (name for name in _NAME.findall(plain) if not keyword.iskeyword(name))


def _listed(metavariable: str, regex: str, patterns: Sequence[Sequence[str]], **_: object) -> Need:
    """The words that a metavariable may stand for, where it is certain to be a name and the condition lists them."""
    named = re.compile(_IS_NAME.format(re.escape(metavariable)))
    exact = _EXACT.fullmatch(regex)
    if exact is None or not any(all(named.search(_TEXT.sub(" ", one)) for one in each) for each in patterns):
        return ()
    return frozenset(exact[1].split("|"))
