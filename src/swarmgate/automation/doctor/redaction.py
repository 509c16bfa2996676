"""Redacts settings for the doctor's output, so that no secret is printed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from pydantic import BaseModel

from swarmgate.config import Config
from swarmgate.config.base import KEY_SHAPES
from swarmgate.config.setting_errors import SECRET_WORDS

HIDDEN = "<hidden>"
_SHAPE = re.compile(rf"(?<![A-Za-z0-9_])(?:{KEY_SHAPES.pattern})")
_USER = re.compile(r"(?<=://)[^\s/@\"']+(?=@)")
_TEXT = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,\]}#"']+)"""
_NAME = rf"""(?i)(\b[\w.-]*{SECRET_WORDS}[\w.-]*["']?"""
_IN_PROSE = re.compile(rf"""{_NAME}\s*=\s*|--[\w-]*{SECRET_WORDS}[\w-]*\s+|authorization:\s*(?:\w+\s+)?)({_TEXT})""")
_IN_LINE = re.compile(rf"""{_NAME}\s*:\s*(?:\w+\s+)?)({_TEXT})""")
_VARIABLE = re.compile(r"""["']?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+["']?""")
_PAIR = re.compile(rf"""([\w-]+|"[^"]*"|'[^']*')(\s*=\s*)({_TEXT}|\[[^\]]*\]?)""")
_PLAIN = re.compile(r"\s*(?:#.*|\[+[^=]*\]+\s*(?:#.*)?|)")


def masked(text: str) -> str:
    """The text without what looks like a key, what a name says is one, and users and passwords in addresses."""
    return _IN_PROSE.sub(_unless_variable, _USER.sub(HIDDEN, _SHAPE.sub("<a key>", text)))


def _unless_variable(match: re.Match[str]) -> str:
    return match[0] if _VARIABLE.fullmatch(match[2]) else match[1] + HIDDEN


def of_settings(line: str, changed: Collection[str]) -> str:
    """One line of a diff of settings: values of known keys and of those that were changed, and nothing else."""
    mark, text = line[:1], line[1:]
    if mark == "@" or _PLAIN.fullmatch(text):
        return mark + _in_line(text)
    if not _PAIR.search(text):
        return mark + HIDDEN

    def value(match: re.Match[str]) -> str:
        name = match[1].strip("\"'")
        return match[0] if name in KNOWN or name in changed else f"{match[1]}{match[2]}{HIDDEN}"

    return mark + _in_line(_PAIR.sub(value, text))


def _in_line(text: str) -> str:
    return _IN_LINE.sub(_unless_variable, masked(text))


def _names(section: type[BaseModel]) -> Iterator[str]:
    """The keys of a table and of those below it."""
    for name, field in section.model_fields.items():
        yield name
        for inner in _sections(field.annotation):
            yield from _names(inner)


def _sections(kind: object) -> Iterator[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for each in getattr(kind, "__args__", ()):
        yield from _sections(each)


KNOWN = frozenset(_names(Config))
"""Every key that a setting can have; what users name themselves, such as a header, is none."""
