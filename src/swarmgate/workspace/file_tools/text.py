"""Text operations of the file tools: windows of lines, exact replacement, preserved line endings."""

from __future__ import annotations

import difflib
import re

from swarmgate.errors import FileProblem

_COMPARED_LINES = 5000
_COMPARED_WIDTH = 200
_SIMILAR = 0.6


def decoded(path: str, data: bytes) -> str:
    """The content as text, line ends as they are.

    Raises:
        FileProblem: it is binary or not UTF-8; the message says where.
    """
    if b"\0" in data:
        raise FileProblem(f"`{path}` is a binary file ({len(data)} bytes); only UTF-8 text can be read or edited")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileProblem(
            f"`{path}` is not UTF-8 text: byte 0x{data[error.start]:02x} on line {line}",
            hint="convert the file to UTF-8, or leave it to a command that knows its encoding",
        ) from error


def window(path: str, text: str, *, start: int | None, end: int | None, limit: int) -> str:
    r"""Lines `start` to `end` (from 1, inclusive) with `\n` line ends, at most `limit` characters.

    What is left out at the end is named in a last line that says how to read on.

    Raises:
        FileProblem: there is no such range of lines.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    first, last = start or 1, min(end or len(lines), len(lines))
    if not lines and first == 1:
        return ""
    if start is not None and not 1 <= start <= len(lines):
        raise FileProblem(f"`{path}` has lines 1 to {len(lines)}; there is no line {start}")
    if end is not None and end < first:
        raise FileProblem(f"`{path}`: end_line {end} lies before start_line {first}")
    stop, used = first - 1, 0
    while stop < last and used + len(lines[stop]) + 1 <= limit:
        used += len(lines[stop]) + 1
        stop += 1
    if stop < first:  # one line alone is too long
        head = lines[stop][:limit]
        note = f"[line {first} of {len(lines)}: its first {limit} of {len(lines[stop])} characters"
        return f"{head}\n{note}{_read_on(first + 1, len(lines))}]"
    body = "".join(f"{line}\n" for line in lines[first - 1 : stop])
    return body if stop == last else f"{body}[lines {first}-{stop} of {len(lines)}{_read_on(stop + 1, len(lines))}]"


def _read_on(line: int, total: int) -> str:
    return f"; call read_file with start_line={line}" if line <= total else ""


def replaced(path: str, text: str, old: str, new: str) -> str:
    r"""The text with the only occurrence of `old` replaced; `\n` in both stands for the file's own line end.

    Raises:
        FileProblem: `old` is empty, equals `new`, or does not occur exactly once; the message says where, or shows
            the closest lines.
    """
    old, new = (part.replace("\r\n", "\n") for part in (old, new))
    if not old:
        raise FileProblem(f"`{path}`: old is empty; to write a whole file call write_file")
    if old == new:
        raise FileProblem(f"`{path}`: old and new are the same; nothing would change")
    found = list(re.finditer("\r?\n".join(re.escape(line) for line in old.split("\n")), text))
    if len(found) == 1:
        match = found[0]
        return text[: match.start()] + as_in(text, new) + text[match.end() :]
    if found:
        lines = ", ".join(str(text.count("\n", 0, match.start()) + 1) for match in found[:10])
        raise FileProblem(
            f"`{path}`: old occurs {len(found)} times (lines {lines}); add lines around it until it is unique"
        )
    raise FileProblem(f"`{path}`: old does not occur in the file.{_closest(text, old)}")


def as_in(text: str, new: str) -> str:
    """`new` with the line ends that most lines of `text` have."""
    crlf = text.count("\r\n")
    unix = new.replace("\r\n", "\n")
    return unix.replace("\n", "\r\n") if crlf * 2 > text.count("\n") else unix


def _closest(text: str, old: str) -> str:
    """The lines that most resemble the first line of `old` with anything in it."""
    wanted = next((line.strip() for line in old.split("\n") if line.strip()), "")
    lines = text.splitlines()[:_COMPARED_LINES]
    stripped = [line.strip()[:_COMPARED_WIDTH] for line in lines]
    close = difflib.get_close_matches(wanted[:_COMPARED_WIDTH], stripped, n=1, cutoff=_SIMILAR)
    if not close:
        return " No line resembles it; read the file again"
    at = stripped.index(close[0])
    height = min(old.count("\n") + 1, 10)
    excerpt = "\n".join(line[:_COMPARED_WIDTH] for line in lines[at : at + height])
    return f" The closest, from line {at + 1}:\n{excerpt}"
