"""Checks shell scripts for likely typing errors that parse: `[ -f x`, `$NAME}`, `$dirname "$0")`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Tree

# `$`, a parameter, what may follow it in braces, and the brace that closes what nothing opened.
_BRACE = re.compile(
    rb"(?<![\\$])\$#?(?:[A-Za-z_]\w*|\d)(?:\[[@*\w$]*\])?(?:[#%/:+?=,^@-][^\s{}\"'()]*|:?[-+=]\"[^\"\n{}]*\")?\}"
)
_PAREN = re.compile(rb"(?<=[\"=])\$[a-z][\w-]*[ ](?!in\b)[^()\n;&|`]*\)(?=\"|\s|/|\Z)")
_SINGLE = re.compile(rb"'[^'\n]*'")


def lost(content: bytes, text: bytes, start: int) -> tuple[int, str] | None:
    """Where a `{` or `(` after a `$` is gone, in `text` that begins at `start`; `content` must lack one as well."""
    for pattern, opener, closer in ((_BRACE, b"{", b"}"), (_PAREN, b"(", b")")):
        if content.count(opener) >= content.count(closer):
            continue
        for match in pattern.finditer(text):
            begin, end = text.rfind(b"\n", 0, match.start()) + 1, text.find(b"\n", match.end())
            line = _SINGLE.sub(b"", text[begin : end if end >= 0 else len(text)])
            if line.count(opener) < line.count(closer) and match[0] in line and not line.lstrip().startswith(b"#"):
                return start + match.start(), f"`{opener.decode()}` is missing after `$`"
    return None


def tests(tree: Tree, content: bytes) -> Iterator[tuple[int, str]]:
    """`[ -f x` without its `]`, and the other way round: commands to the grammar of Bash."""
    for node in grammars.walk(tree.root_node):
        if node.type != "command":
            continue
        first, last = (content[child.start_byte : child.end_byte] for child in (node.children[0], node.children[-1]))
        if first == b"[" and last != b"]":
            yield node.start_byte, "`]` is missing at the end of this `[`"
        elif last == b"]" and first != b"[":
            yield node.children[-1].start_byte, "unexpected `]`"
