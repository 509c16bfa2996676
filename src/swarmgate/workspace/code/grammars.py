"""Parses source files of many languages with tree-sitter, in bounded time.

The grammars come in the wheel of tree-sitter-language-pack 0.13.0; later releases download them at run time, and code
never leaves the machine here. Only the grammars named below are used: one of the pack (cobol) never returns.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Tree

_GRAMMARS = {
    "bash": "bash", "c": "c", "cpp": "cpp", "csharp": "csharp", "css": "css", "dart": "dart",
    "dockerfile": "dockerfile", "elixir": "elixir", "erlang": "erlang", "go": "go", "groovy": "groovy",
    "haskell": "haskell", "html": "html", "java": "java", "javascript": "javascript", "json": "json",
    "kotlin": "kotlin", "lua": "lua", "makefile": "make", "perl": "perl", "php": "php", "powershell": "powershell",
    "protobuf": "proto", "python": "python", "r": "r", "ruby": "ruby", "rust": "rust", "scala": "scala",
    "scss": "scss", "sql": "sql", "svelte": "svelte", "swift": "swift", "terraform": "hcl", "toml": "toml",
    "typescript": "typescript", "vue": "vue", "xml": "xml", "yaml": "yaml", "zig": "zig",
}  # fmt: skip
"""Our name of a language (`files.language_of`) and the pack's name of its grammar."""

TIME_LIMIT_S = 5.0
"""Seconds of processor time for one file; a megabyte of ordinary code takes less than one."""

_local = threading.local()


_WHILE_PARSING, _FOR_TEXT = 65536, 256
"""Bytes that the parser, and the text of a node, get at a time."""


class TooSlow(Exception):
    """Raised when a grammar exceeds the time limit."""


def grammar_of(path: str, language: str) -> str:
    """The name of the grammar that reads a file of this language; empty where there is none."""
    if language == "typescript" and path.lower().endswith("x"):
        return "tsx"
    return _GRAMMARS.get(language, "")


def parse(grammar: str, content: bytes, *, limit_s: float = TIME_LIMIT_S) -> Tree:
    """The syntax tree of a file; wrong syntax gives a tree with `has_error`.

    Args:
        grammar: as `grammar_of` names it.
        content: the file, UTF-8 (other bytes become errors of the tree).
        limit_s: seconds of processor time after which it is given up: a busy machine changes no verdict.

    Raises:
        TooSlow: the grammar did not end in time.
    """
    from tree_sitter import Parser  # noqa: PLC0415 - late: a change without code needs none
    from tree_sitter_language_pack import get_language  # noqa: PLC0415 - the same

    parsers: dict[str, Parser] = _local.__dict__.setdefault("parsers", {})
    parser = parsers.get(grammar)
    if parser is None:
        parser = parsers[grammar] = Parser(get_language(grammar))  # type: ignore[arg-type]  # our table names it
    sys.audit("swarmgate.parse", grammar, content)  # as the compiler of Python tells of what it compiles
    ends = time.thread_time() + limit_s

    piece = _WHILE_PARSING

    def read(offset: int, _: object) -> bytes:
        return content[offset : offset + piece]

    try:
        tree = parser.parse(read, progress_callback=lambda *_: time.thread_time() > ends)
    except ValueError as error:
        parsers.pop(grammar, None)
        raise TooSlow(f"the {grammar} grammar did not end within {limit_s:g} s") from error
    piece = _FOR_TEXT  # from now on `Node.text` asks, each time for a few bytes and up to a piece more
    return tree


def walk(node: Node) -> Iterator[Node]:
    """A node and everything below it, in the order of the source; no recursion, so depth is no limit."""
    stack = [node]
    while stack:
        here = stack.pop()
        yield here
        stack.extend(reversed(here.children))
