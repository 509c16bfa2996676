"""Recognises the plain cases of a switch statement, which do not count as complexity.

McCabe exempted the case statement from his limit for that reason ("A Complexity Measure", IEEE TSE 1976, section VI).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LANGUAGES = frozenset(
    {
        "c", "cpp", "csharp", "go", "java", "javascript", "kotlin", "php", "python", "ruby", "rust", "scala", "swift",
        "typescript",
    }
)  # fmt: skip
"""Those in which lizard counts each case."""

_ARM = re.compile(r"^(?:case|when)\b.*?(?:(?<!:):(?!:)|=>|->|\bthen\b|$)\s*(?P<rest>.*)$")
_WHEN = re.compile(r"^when\b.*?(?:\bthen\b|$)\s*(?P<rest>.*)$")
_ARROW = re.compile(r"^[^{}]*?(?:=>|->)\s*(?P<rest>[^{]*),?$")
_END = re.compile(r"^(?:case\b|when\b|default\b|else\b|_\s*(?:=>|->)|end\b|\})")
_BRACED = _LANGUAGES - {"python", "ruby", "scala"}
_SWITCH = re.compile(r"^(?:.*\W)?(?:match|switch|select|when)\b[^;]*\{$")
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'|`[^`]*`|//.*")
_BRANCHES = re.compile(r"\b(?:if|for|while|loop|do|try|catch|match|switch|select|when|case)\b|&&|\|\||\?")
_HEAD = re.compile(r"^(?:case|when)\b")
_ARROWED = re.compile(r"^[^=]*?(?:=>|->)")
_BREAK = re.compile(r"^break;?$")


def plain(language: str, lines: Sequence[str]) -> int:
    """How many arms of one statement there are in the lines of a function, which have no indentation."""
    if language not in _LANGUAGES:
        return 0
    arm = _ARROW if language in {"rust", "kotlin"} else _WHEN if language == "ruby" else _ARM
    plain = {index for index in range(1, len(lines)) if _is_plain(lines, index, arm)}
    return len(plain | (_unbranched(lines, arm) if language in _BRACED else set()))


def _unbranched(lines: Sequence[str], arm: re.Pattern[str]) -> set[int]:
    """The arms of those switches of whose arms none branches, however many statements it has."""
    bare = [_STRING.sub("_", line) for line in lines]
    return {index for start, line in enumerate(bare) if _SWITCH.match(line) for index in _arms(bare, start, arm)}


def _arms(bare: Sequence[str], start: int, arm: re.Pattern[str]) -> list[int]:
    """The lines on which the arms of a switch begin; none where something in one of them branches."""
    arms, depth = [], 1
    for index in range(start + 1, len(bare)):
        line, head = bare[index], depth == 1 and (_ARROWED if arm is _ARROW else arm).match(bare[index])
        if _BRANCHES.search(_HEAD.sub("", line) if head else line):
            return []
        arms += [index] if head else []
        depth += line.count("{") - line.count("}")
        if depth <= 0:
            return arms
    return []


def _is_plain(lines: Sequence[str], index: int, arm: re.Pattern[str]) -> bool:
    match = arm.match(lines[index])
    if match is None:
        return False
    if match["rest"].strip(" {"):
        return not match["rest"].rstrip().endswith("{") and _closes(lines, index + 1)
    return arm is not _ARROW and (_closes(lines, index + 1) or _closes(lines, index + 2))


def _closes(lines: Sequence[str], index: int) -> bool:
    """Whether an arm has ended before this line, by itself or by a `break`."""
    if index < len(lines) and _BREAK.match(lines[index]):
        index += 1
    while index < len(lines) and not lines[index]:
        index += 1
    return index >= len(lines) or bool(_END.match(lines[index]) or _ARROW.match(lines[index]))
