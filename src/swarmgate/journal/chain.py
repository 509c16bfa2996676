r"""Encodes and verifies the lines of a journal: one entry a line, each hash-chained to the line before.

    {"seq":7,"time":"2026-11-21T13:00:00.123Z","actor":"user","event":{...},"prev":"<64 hex>","hash":"<64 hex>"}

`hash` is the SHA-256 of the line's own bytes up to and without `,"hash":`; `prev` is the hash of the line before, 64
zeros for the first. Any program can check the chain without knowing the events.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import from_json

from swarmgate.domain.base import Entry, Frozen
from swarmgate.errors import LedgerCorrupt

GENESIS = "0" * 64
_PREV, _HASH, _END = b',"prev":"', b',"hash":"', b'"}'
_TAIL = len(_HASH) + 64 + len(_END)
TAIL = _TAIL + 1
"""Bytes at the end of a line that hold its hash, the line feed too."""
_LINK = len(_PREV) + 64 + 1  # the link's own closing quote
_HINT = "Bring the file back from a backup or from git: the line was altered, removed or damaged after it was written."


def encode(entry: Entry[Any], prev: str) -> tuple[bytes, str]:
    """Encodes an entry as a line with its line feed, and returns it with its hash."""
    body = entry.model_dump_json().encode()[:-1] + _PREV + prev.encode() + b'"'
    digest = hashlib.sha256(body).hexdigest()
    return body + _HASH + digest.encode() + _END + b"\n", digest


def hash_of(data: bytes) -> str:
    """The hash that the last of whole lines says it has; whether that is so, the line behind it tells."""
    return data[-64 - len(_END) - 1 : -len(_END) - 1].decode("ascii", "replace")


def walk(data: bytes, *, name: str, prev: str = GENESIS, seq: int = 0) -> Iterator[tuple[bytes, str]]:
    """Yields the entries of whole lines, as JSON, with their hashes, each checked against the line before.

    Args:
        data: lines that each end in a line feed.
        name: of the file, for messages.
        prev: the hash of the line before the first one.
        seq: the sequence number of the line before the first one.

    Raises:
        LedgerCorrupt: a line does not fit; `line` is its number in the file.
    """
    for raw in io.BytesIO(data):
        line = raw[:-1]
        seq += 1
        body, digest = line[:-_TAIL], line[-64 - len(_END) : -len(_END)].decode("ascii", "replace")
        framed = line[-_TAIL : -_TAIL + len(_HASH)] == _HASH and line.endswith(_END)
        if not framed or hashlib.sha256(body).hexdigest() != digest:
            raise LedgerCorrupt(f"{name} line {seq} does not match its own hash.", line=seq, hint=_HINT)
        if body[-_LINK:] != _PREV + prev.encode() + b'"':
            raise LedgerCorrupt(f"{name} line {seq} does not follow the line before it.", line=seq, hint=_HINT)
        yield body[:-_LINK] + b"}", digest
        prev = digest


class Line(NamedTuple):
    """A line by itself: its number, its time and its own hash."""

    seq: int
    time: str
    hash: str


def line_of(data: bytes) -> Line | None:
    """The line that these bytes are, with its line feed; None where they are none. The event is not looked at."""
    body, digest = data[:-TAIL], hash_of(data)
    if not data.endswith(_END + b"\n") or hashlib.sha256(body).hexdigest() != digest:
        return None
    try:
        fields = from_json(body + b"}")
        return Line(int(fields["seq"]), str(fields["time"]), digest)
    except (KeyError, TypeError, ValueError):
        return None


def entry_of(data: bytes, seq: int, *, kinds: Mapping[str, type[Frozen]], name: str) -> Entry[Any]:
    """Decodes the entry of a line's JSON. Only the event of its kind is built: trying all takes twice the time.

    Args:
        data: of one line, as `walk` gives it.
        seq: the number that it has to have.
        kinds: of event, by their tag `type`.
        name: of the file, for messages.

    Raises:
        LedgerCorrupt: it is no entry of that number, or its event is of no known kind.
    """
    try:
        line = from_json(data)
        tag = line["event"]["type"]
        line["event"] = kinds[tag].model_validate(line["event"])
        entry: Entry[Any] = Entry.model_validate(line, strict=True)  # half of the time of `model_construct`
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise _unknown(name, seq, f"{tag}.{where}: {problem['msg']}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise _unknown(name, seq, f"{type(error).__name__}: {error}") from None
    if entry.seq != seq:
        raise LedgerCorrupt(f"{name} line {seq} says that it is number {entry.seq}.", line=seq, hint=_HINT)
    return entry


def _unknown(name: str, seq: int, problem: str) -> LedgerCorrupt:
    return LedgerCorrupt(
        f"{name} line {seq} holds an event that this version does not know ({problem}).",
        line=seq,
        hint="Was it written by a newer swarmgate? Then install that one, or a newer one.",
    )
