"""Reads from the task's kind and text whether it asks for changes of tests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.gates.test_integrity.suites.model import Rule

if TYPE_CHECKING:
    from swarmgate.gates.test_integrity.suites.model import Weakening

_KIND = re.compile(r"^\s*Kind:\s*(\w+)\s*$", re.MULTILINE)
_TESTS = re.compile(
    r"\b(?:tests?|specs?|suites?|assert(?:ion)?s?|snapshots?|test cases?|expectations?"
    r"|expected (?:value|result|output)s?|golden files?)\b|\btest_\w+|\bTest[A-Z]\w+|\w[._](?:test|spec)\b",
    re.IGNORECASE,
)
_TAKES = re.compile(
    r"\b(?:remov|delet|drop|skip|disabl|ignor|quarantin|retir|prun|mark|switch(?:es|ed|ing)? off|turn(?:s|ed|ing)? off"
    r"|tak(?:e|es|ing) out|get(?:s|ting)? rid|exclud|xfail|merg|consolidat|loosen|relax|weaken|no longer)",
    re.IGNORECASE,
)
_ALTERS = re.compile(
    r"\b(?:updat|adapt|adjust|chang|correct|rewrit|regenerat|refresh|fix|mend|replac|renam|expect|align|migrat|simplif)",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|never|without|no|nor|neither|n't|keep|keeps|don't|must still|unchanged|instead of)\b", re.IGNORECASE
)
_NAMES = re.compile(
    r"[\w/.-]*(?:test_|_test\b|Test[A-Z]|\.test\.|\.spec\.|tests?/)[\w/.-]*|[\w/-]+\.(?:py|[jt]sx?|go|rs|java)\b"
)
_ALTERED = frozenset({Rule.EXPECTED, Rule.WEAKER, Rule.ASSERTION, Rule.ROWS})


def kind_of(announced: str) -> str:
    """The kind of the task, as `Kind:` in the plan says it; empty where nothing does."""
    found = _KIND.findall(announced)
    return found[-1].lower() if found else ""


def allows(announced: str | None, each: Weakening) -> bool:
    """Whether the task asks for a weakening: by its kind (breaking), or by a sentence that names it.

    A sentence that names tests or files of tests speaks of those alone.
    """
    if announced is None:
        return False
    if kind_of(announced) == "breaking" and each.rule in _ALTERED:
        return True
    return any(_allows(sentence, each) for sentence in re.split(r"(?<=[.;!?])\s|\n", announced))


def _allows(sentence: str, each: Weakening) -> bool:
    tests = _TESTS.search(sentence)
    if not tests or _NOT.search(sentence):
        return False
    if not (_TAKES.search(sentence) or (each.rule in _ALTERED and _ALTERS.search(sentence))):
        return False
    named = [name.strip("./") for name in _NAMES.findall(sentence)]
    about = f"{each.path} {each.test}"
    return not named or any(name and name in about for name in named)
