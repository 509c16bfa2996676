"""Base classes and field types of all records: frozen, closed pydantic models, text safe for plan.md, entries."""

import re
from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict

from swarmgate.domain.text.unicode import REPLACEMENT

_BREAKS = re.compile(r"\s+")
# C0 controls less tab and newline, DEL, the separators that str.splitlines() would break a line at, and lone
# surrogates, which JSON can spell and UTF-8 cannot.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")
# What turns the order of letters around: a title that is shown for approval must read as it is.
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")


def _plain(text: str) -> str:
    return _TURNING.sub(REPLACEMENT, _CONTROLS.sub(" ", text))


def _one_line(text: str) -> str:
    return _BREAKS.sub(" ", _plain(text)).strip()


def _lines(text: str) -> str:
    unix = _plain(text.replace("\r\n", "\n").replace("\r", "\n"))
    return "\n".join(line.rstrip() for line in unix.split("\n")).strip()


Line = Annotated[str, AfterValidator(_one_line)]
"""Text on one line: every run of white space becomes one blank, control characters vanish, and U+FFFD stands for those
that turn the order of letters around."""

Text = Annotated[str, AfterValidator(_lines)]
"""Text of several lines: `\\n` line ends, no trailing blanks, no control characters."""


class Frozen(BaseModel):
    """A record that never changes after it was made and refuses fields that it does not know.

    Its validator is built on first use: a command pays for the records that it needs, and for no others. Files of
    records that `swarm status` loads have no `from __future__ import annotations`: pydantic would compile each type
    from its text, which took one twentieth of that command.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


E = TypeVar("E")


class Entry(Frozen, Generic[E]):
    """An event of a journal with its place: `seq` counts from 1, `time` is UTC (ISO 8601), `actor` says who."""

    seq: int
    time: str
    actor: str
    event: E
