r"""Removes here-documents and joins continued lines of a shell text before it is parsed.

The grammar fails on whatever follows `<<EOF` in its line, and takes `r\` and `m` on the next line for two words.

Each becomes a `<` with a marked word, which the grammar reads wherever it stands, and so does a here-string. A body
without expansions is put aside under a number; any other becomes a quoted string: the commands in it are read too.
"""

from __future__ import annotations

import re

HERE = "\ue0f1"
"""Opens the word behind a `<` that is no file but the text itself."""
MARK = "\ue0f0"
"""Opens the number of a body that was put aside; the same mark closes it."""

_DELIMITER = re.compile(r"<<(-?)[ \t]*((?:'[^'\n]*'|\"[^\"\n]*\"|\\.|[^\s'\"\\;&|<>()`])+)")
_QUOTES = re.compile(r"['\"\\]")


def lift(source: str) -> tuple[str, tuple[str, ...]]:
    """Splits a line into the text without here-documents, and their bodies by number."""
    if "<<" not in source and "\\\n" not in source:
        return source, ()
    return _Lifter(source).lifted()


class _Lifter:
    """One pass over the text that knows quotes, comments, substitutions and arithmetic."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self._out: list[str] = []
        self._inside = [""]
        """Open `"`, `(`, `((` and backquotes, innermost last."""
        self._waiting: list[tuple[int, str, bool, bool]] = []
        self._bodies: list[str] = []

    def lifted(self) -> tuple[str, tuple[str, ...]]:
        while self._at < len(self._source):
            self._step()
        return "".join(self._out), tuple(self._bodies)

    def _step(self) -> None:
        char, within = self._source[self._at], self._inside[-1]
        if char == "\\":
            self._backslash()
        elif char == "'" and within != '"':
            end = self._source.find("'", self._at + 1)
            self._take((end + 1 if end >= 0 else len(self._source)) - self._at)
        elif char in '"`':
            self._inside.pop() if within == char else self._inside.append(char)
            self._take(1)
        elif char in "()":
            self._parenthesis(char)
        elif within == '"' or within == "((":  # noqa: PLR1714 - two states, not a set
            self._take(1)
        elif char == "#" and (self._at == 0 or self._source[self._at - 1] in " \t\n;&|("):
            end = self._source.find("\n", self._at)
            self._take((end if end >= 0 else len(self._source)) - self._at)
        elif char == "\n" and self._waiting:
            self._take(1)
            self._read_bodies()
        else:
            self._operator()

    def _backslash(self) -> None:
        """A continued line is joined: the grammar would end the word there."""
        if self._source.startswith("\\\n", self._at):
            self._at += 2
        else:
            self._take(2)

    def _parenthesis(self, char: str) -> None:
        within, before = self._inside[-1], self._source[self._at - 1 : self._at]
        if char == "(" and (within != '"' or before == "$"):
            double = self._source.startswith("((", self._at)
            self._inside.append("((" if double else "(")
            self._take(2 if double else 1)
        elif char == ")" and within in {"(", "(("}:
            self._inside.pop()
            self._take(2 if within == "((" and self._source.startswith("))", self._at) else 1)
        else:
            self._take(1)

    def _operator(self) -> None:
        found = _DELIMITER.match(self._source, self._at)
        if self._source.startswith("<<<", self._at):
            self._at += 3
            while self._source[self._at : self._at + 1] in {" ", "\t"}:
                self._at += 1
            self._out.append(f"< {HERE}")
        elif found:
            plain = _QUOTES.sub("", found[2])
            self._out.append(f"< {HERE}")
            self._waiting.append((len(self._out), plain, plain != found[2], bool(found[1])))
            self._out.append("")
            self._at = found.end()
        else:
            self._take(1)

    def _read_bodies(self) -> None:
        for place, delimiter, literal, tabs in self._waiting:
            lines = []
            while self._at < len(self._source):
                end = self._source.find("\n", self._at)
                end = len(self._source) if end < 0 else end
                line, self._at = self._source[self._at : end], end + 1
                line = line.lstrip("\t") if tabs else line
                if line == delimiter:
                    break
                lines.append(line + "\n")
            body = "".join(lines)
            if literal or not re.search(r"[$`\\]", body):
                self._out[place] = f"'{MARK}{len(self._bodies)}{MARK}'"
                self._bodies.append(body)
            else:
                self._out[place] = '"' + _as_string(body) + '"'
        self._waiting.clear()

    def _take(self, count: int) -> None:
        self._out.append(self._source[self._at : self._at + count])
        self._at += count


def _as_string(body: str) -> str:
    """The body between double quotes: its own are escaped, but for those of commands in it."""
    out, at = [], 0
    while at < len(body):
        char = body[at]
        if char == "\\" and body[at + 1 : at + 2] == '"':
            out.append('\\\\\\"')
            at += 2
        elif char == "\\":
            out.append(body[at : at + 2])
            at += 2
        elif char == "`" or body.startswith("$(", at):
            end = _end_of_substitution(body, at)
            out.append(body[at:end])
            at = end
        else:
            out.append('\\"' if char == '"' else char)
            at += 1
    return "".join(out)


def _end_of_substitution(body: str, at: int) -> int:
    """The index after `$(...)` or a backquoted command that starts here."""
    if body[at] == "`":
        return (body.find("`", at + 1) + 1) or len(body)
    depth, here = 0, at + 1
    while here < len(body):
        char = body[here]
        if char == "'":
            here = body.find("'", here + 1) if "'" in body[here + 1 :] else len(body)
        elif char == "\\":
            here += 1
        elif char in "()":
            depth += 1 if char == "(" else -1
            if not depth:
                return here + 1
        here += 1
    return len(body)
