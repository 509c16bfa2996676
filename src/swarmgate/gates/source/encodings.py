"""Decodes Python source as Python does (PEP 263) and converts it to UTF-8 for the scanners."""

from __future__ import annotations

import codecs
import os
import re
from typing import TYPE_CHECKING

from swarmgate.workspace.files.paths import encode

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.gates.source.file import SourceFile

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#.*)?$", re.DOTALL)
_WITH_LINE_ENDS = re.compile(r"(utf[-_]8|(?:iso[-_])?latin[-_]1|iso[-_]8859[-_]1)(?:[-_].*)?\Z", re.IGNORECASE)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_PLAIN = re.compile(
    r"utf-8|utf-8-sig|ascii|iso8859-\d+|cp125\d|cp(?:437|737|775|85\d|86[0-35-9]|874|932|949|950)|euc_\w+"
    r"|shift_jis\w*|gb2312|gbk|gb18030|big5\w*|koi8-\w|tis-620|johab|kz1048|ptcp154"
    r"|mac-(?:roman|cyrillic|greek|turkish|latin2|iceland|croatian|romanian)"
)
"""The codecs in which ASCII stands for itself. In others (UTF-7, `unicode_escape`, EBCDIC) a comment may be code."""


def declared(content: bytes) -> str:
    """The encoding that the first two lines of a Python file declare; empty for none."""
    found = _cookie(content, b"\n") or _cookie(content, None)
    return found[1].decode("ascii", "replace") if found else ""


def hidden(content: bytes) -> str:
    """The declared encoding, where it is one in which code need not look like code; else empty."""
    if any(cookie and not _plain(cookie[1]) for cookie in (_cookie(content, b"\n"), _cookie(content, None))):
        return declared(content)
    return ""


def in_utf8(language: str, content: bytes) -> bytes:
    """The content as UTF-8 where it is Python in another encoding; as it is where it cannot be decoded, too.

    Lines stay what they are, and the declaration is changed to fit, so that a parser reads it right.
    """
    if language != "python" or content.isascii() or b"coding" not in content[:2000]:
        return content
    cookie = _cookie(content, b"\n") or _cookie(content, None)
    if not cookie or not _plain(cookie[1]):
        return content
    name = _normal(cookie[1])
    if codecs.lookup(name).name in {"utf-8", "utf-8-sig"}:
        return content
    try:
        text = content.decode(name)
    except (UnicodeError, ValueError):
        return content
    declaration = re.compile(rf"(coding[:=][ \t]*){re.escape(cookie[1].decode())}")
    return declaration.sub(r"\1utf-8", text, count=1).encode("utf-8", "surrogatepass")


def is_utf8(content: bytes) -> bool:
    """Whether the bytes are UTF-8."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def in_utf8_on_disk(root: Path, source: SourceFile) -> bool:
    """Whether the file itself is UTF-8, as a tool that reads it from the disk needs it; yes where it is gone."""
    if source.content.isascii():
        return True
    try:
        return is_utf8((root / os.fsdecode(encode(source.path))).read_bytes())
    except OSError:
        return True


def _cookie(content: bytes, end: bytes | None) -> re.Match[bytes] | None:
    """The declaration in the first two lines; the second one counts after a comment or a blank line alone."""
    head = content[:10_000].removeprefix(BYTE_ORDER_MARK)
    lines = (head.split(end, 2) if end else head.splitlines())[:2]
    for line in lines:
        found = _COOKIE.match(line)
        if found or not _BLANK.match(line.rstrip(b"\r")):
            return found
    return None


def _normal(name: bytes) -> str:
    """The name as Python's tokenizer takes it: editors write `utf-8-unix` and `latin-1-dos`."""
    text = name.decode("ascii", "replace")
    found = _WITH_LINE_ENDS.match(text)
    return found[1] if found else text


def _plain(name: bytes) -> bool:
    try:
        return bool(_PLAIN.fullmatch(codecs.lookup(_normal(name)).name.lower()))
    except (LookupError, ValueError):
        return False
