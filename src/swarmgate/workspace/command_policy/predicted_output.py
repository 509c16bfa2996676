"""Computes what simple commands (`echo`, `printf`, `base64 -d`, `mktemp`, ...) print, without running them."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.workspace.command_policy import quoting
from swarmgate.workspace.command_policy.inline_code import decoded
from swarmgate.workspace.command_policy.model import UNKNOWN, Feed, Word, program_of
from swarmgate.workspace.command_policy.wrappers import listed_by_find
from swarmgate.workspace.git.folder import top_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_FORMAT = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?([sdibcqxXof%])")
_SILENT = frozenset({
    "true", ":", "false", "cd", "export", "set", "test", "[", "mkdir", "touch", "rm", "cp", "mv", "sleep", "wait",
    "exit",
})  # fmt: skip


def printed(words: Sequence[Word], feed: Feed, *, cwd: str, root: str) -> Feed:
    """Computes the output of a command; `text` is None where only running tells."""
    name = program_of(words[0])
    texts = [word.text for word in words[1:]]
    text = _text(name, texts, feed, cwd, root)
    if text is not None and UNKNOWN in text:
        text = None
    programs = (*feed.programs, name)
    if name in {"find", "gfind"}:
        return Feed(None, programs, names=listed_by_find(words[1:]))
    if name in {"sort", "uniq", "head", "tail", "grep", "tac", "shuf"} and feed.names:
        return Feed(None, programs, names=feed.names)
    if name == "cat" and len(texts) == 1 and not texts[0].startswith("-"):
        return Feed(None, programs, file=texts[0])
    return Feed(text, programs)


def _text(  # noqa: C901, PLR0912 - a table
    name: str, texts: list[str], feed: Feed, cwd: str, root: str
) -> str | None:
    match name, texts:
        case "echo", _:
            return _echoed(texts)
        case "printf", [str(form), *rest] if not form.startswith("-"):
            return formatted(form, rest)
        case "cat" | "tee" | "sort" | "head" | "tail", _ if not [each for each in texts if each != "-"]:
            return feed.text
        case "base64" | "gbase64", [str(option), *rest] if option in {"-d", "-D", "--decode", "-di"}:
            return _decoded(" ".join(rest[:0]) or feed.text)
        case "openssl", ["base64" | "enc", *rest] if "-d" in rest:
            return _decoded(feed.text)
        case "xxd", _ if ("-r" in texts and "-p" in texts) or texts[:1] in (["-rp"], ["-pr"]):
            return _from_hex(feed.text)
        case "rev", []:
            return None if feed.text is None else "\n".join(line[::-1] for line in feed.text.split("\n"))
        case "mktemp", _:
            return "/tmp/mktemp"  # noqa: S108 - what it prints lies there
        case "pwd", _:
            return cwd or None
        case "which" | "type", [str(program)]:
            return program
        case "command", ["-v" | "-V", str(program)]:
            return program
        case "git", ["rev-parse", "--show-toplevel"]:
            return str(top_of(Path(root)) or root)
        case "dirname", [str(path)]:
            return UNKNOWN if UNKNOWN in path else posixpath.dirname(path) or "."
        case "basename", [str(path), *_]:
            return UNKNOWN if UNKNOWN in path else posixpath.basename(path.rstrip("/"))
        case "realpath" | "readlink", _ if texts and not texts[-1].startswith("-"):
            return texts[-1]
        case _:
            return "" if name in _SILENT else None


def _echoed(texts: list[str]) -> str:
    while texts and re.fullmatch(r"-[neE]+", texts[0]):
        texts = texts[1:]
    line = " ".join(texts)
    return quoting.unescaped(line) if "\\" in line else line


def formatted(form: str, rest: list[str]) -> str:
    """What `printf` prints: the format again and again until its arguments are used."""
    out, left = "", list(rest)
    while True:
        before = len(left)
        out += _FORMAT.sub(
            lambda found: "%" if found[1] == "%" else (left.pop(0) if left else ""), quoting.unescaped(form)
        )
        if not left or len(left) == before:
            return out


def _decoded(text: str | None) -> str | None:
    return None if text is None else decoded(text)


def _from_hex(text: str | None) -> str | None:
    try:
        return None if text is None else bytes.fromhex(text.strip()).decode()
    except ValueError:
        return None
