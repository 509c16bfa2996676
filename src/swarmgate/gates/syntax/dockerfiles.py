"""Checks the syntax of Dockerfiles and makefiles with a few rules of our own."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from swarmgate.gates.syntax import brackets, shell
from swarmgate.gates.syntax.lexers import Mark
from swarmgate.gates.syntax.problem import Problem, problem_at
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

_INSTRUCTIONS = frozenset(
    b"ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL USER "
    b"VOLUME WORKDIR".split()
)
_WORD = re.compile(rb"[ \t]*([A-Za-z]+)(?=[ \t\r\n\\]|\Z)")
_ESCAPE = re.compile(rb"\A(?:#[^\n]*\n)*?#[ \t]*escape[ \t]*=[ \t]*`", re.IGNORECASE)
_HEREDOC = re.compile(rb"<<-?\s*([\"']?)([A-Za-z_]\w*)\1")
_EXEC = frozenset(b"CMD ENTRYPOINT SHELL VOLUME RUN".split())
_OPENING = re.compile(rb"^(?:--[\w-]+(?:=\S+)?\s+)*(?=\[)")
_SHELL = re.compile(
    rb"\\[\s\S]|\"(?>(?:[^\"\\$]|\\[\s\S]|\$(?![({]))*)\"|'[^']*+'|\#(?<![^\s;]\#)[^\n]*+|\$\(\(|\)\)|(?P<mark>[(){}])"
)
_TEST = re.compile(rb"(?:^|[\s;(!])\[\s|\s\](?=[\s;)]|\Z)")
_PAIRS = {b"(": re.compile(rb"[()]"), b"{": re.compile(rb"[{}]")}
_CONDITION = re.compile(rb"^ *(?:else[ \t]+)?(ifeq|ifneq|ifdef|ifndef|endif|else)\b")
_DEFINE = re.compile(rb"^[ \t]*(?:(?:override|export|private)[ \t]+)*(define|endef)\b")
_BARE = re.compile(
    rb"(?<!\$)\$(?:[A-Z_]\w+|subst|shell|wildcard|foreach|filter|call|if|or|and|patsubst|addprefix)[)} ]"
)
_COMMENT = re.compile(rb"(?<!\\)#.*", re.DOTALL)
TIME_LIMIT_S = 2.0


def dockerfile(content: bytes) -> list[Problem]:
    """Instructions that do not exist or do not end, exec forms that are no JSON, shell that does not parse."""
    for start, text in _instructions(content):
        problem = _instruction(content, start, text)
        if problem:
            return [problem]
    return []


def _instructions(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Offset and text of each instruction, with its continued lines and here-documents."""
    escape = b"`" if _ESCAPE.match(content) else b"\\"
    position, begin, endings = 0, -1, list[bytes]()
    for line in content.splitlines(keepends=True):
        start, position = position, position + len(line)
        bare = line.strip()
        if endings:
            if bare == endings[0]:
                endings.pop(0)
                if not endings:
                    yield begin, content[begin:position]
                    begin = -1
            continue
        if not bare or bare.startswith(b"#"):
            continue
        begin = start if begin < 0 else begin
        if _word(content[begin:position]) in {b"RUN", b"COPY", b"ADD"}:
            endings = [match[2] for match in _HEREDOC.finditer(line)]
        if not endings and not bare.endswith(escape):
            yield begin, content[begin:position]
            begin = -1
    if begin >= 0:
        yield begin, content[begin:]


def _word(text: bytes) -> bytes:
    match = _WORD.match(text)
    return match[1].upper() if match else b""


def _instruction(content: bytes, start: int, text: bytes) -> Problem | None:
    match = _WORD.match(text)
    if not match or match[1].upper() not in _INSTRUCTIONS:
        instruction = text.split()[0][:30].decode("utf-8", "replace")
        return problem_at(content, start, f"unknown instruction `{instruction}`")
    word, rest = match[1].upper(), text[match.end() :]
    if start + len(text) >= len(content) and re.search(rb"(?:\\|&&|\|\|)\s*\Z", text):
        return problem_at(content, start, f"the file ends in the middle of this `{word.decode()}`")
    opening = _OPENING.match(rest.strip()) if word in _EXEC else None
    if opening and re.match(rb"\[\s*\"", rest.strip()[opening.end() :]):
        return _exec_form(content, start, word, rest.strip()[opening.end() :])
    if word in _EXEC and re.match(rb"\s*\"[^\"]*\"(?:[\s\S]*\")?\s*\]\s*\Z", rest):
        return problem_at(content, start, f"`[` is missing in this `{word.decode()}`")
    if word == b"RUN":
        return _shell(content, start + match.end(), rest) if b"<<" not in rest else None
    if b"$" in rest and b"<<" not in rest and rest.count(b"{") != rest.count(b"}"):
        return problem_at(content, start, f"a `{{` or `}}` is missing in this `{word.decode()}`")
    return None


def _exec_form(content: bytes, start: int, word: bytes, rest: bytes) -> Problem | None:
    plain = re.sub(rb"\\\r?\n", b"", rest)
    try:
        json.loads(plain)
    except ValueError:
        if plain.rstrip().endswith(b"]") and plain.count(b"[") == plain.count(b"]"):
            return None  # docker then takes it for a shell command: odd, and legal
        return problem_at(content, start, f"the list of this `{word.decode()}` is not closed or no JSON")
    return None


def _shell(content: bytes, start: int, text: bytes) -> Problem | None:
    """What the count of the brackets and the grammar of Bash both reject."""
    lost = shell.lost(text, text, start)
    if lost:
        return problem_at(content, *lost)
    # Comments between continued lines are docker's, not the shell's.
    script = re.sub(
        rb"(?m)^[ \t]*#[^\n]*$", lambda match: b" " * (len(match[0]) - 1) + b"\\" if match[0] else b"", text
    )
    script = re.sub(rb"(?m)^([ \t]*)$(?=\n)", rb"\1\\", script) if b"\n\n" in script else script
    marks = [Mark(match.start() + start, match["mark"]) for match in _SHELL.finditer(text) if match["mark"]]
    found = brackets.unbalanced(content, marks)
    if not script.strip() or not (found or _TEST.search(script)):
        return None
    tree = grammars.parse("bash", script, limit_s=TIME_LIMIT_S)
    if tree.root_node.has_error:
        return found
    lonely = next(shell.tests(tree, script), None)
    return problem_at(content, start + lonely[0], lonely[1]) if lonely else None


def makefile(content: bytes) -> list[Problem]:
    """References that do not end, brackets of assignments and rules, conditions and definitions that are not closed."""
    conditions: list[int] = []
    define = -1
    for start, line in _logical(content):
        marker = _DEFINE.match(line)
        if marker or define >= 0:
            define = start if marker and marker[1] == b"define" else -1 if marker else define
            continue
        condition = None if line.startswith(b"\t") else _CONDITION.match(line)
        if condition and condition[1] == b"endif":
            if not conditions:
                return [problem_at(content, start, "unexpected `endif`")]
            conditions.pop()
        elif condition and condition[1] != b"else" and not line.lstrip().startswith(b"else"):
            conditions.append(start)
        problem = _references(content, start, line) or _plain(content, start, line)
        if problem:
            return [problem]
    if define >= 0:
        return [problem_at(content, define, "`define` is never closed: `endef` is missing")]
    if conditions:
        return [problem_at(content, conditions[-1], "this condition is never closed: `endif` is missing")]
    return []


def _logical(content: bytes) -> Iterator[tuple[int, bytes]]:
    for match in re.finditer(rb"(?:[^\\\n]|\\[\s\S])*+\n?", content):
        if match[0].strip():
            yield match.start(), match[0]


def _references(content: bytes, start: int, line: bytes) -> Problem | None:
    """GNU make counts only brackets of the reference's own kind until the end of the line."""
    text = line if line.startswith(b"\t") else _COMMENT.sub(b"", line)
    bare = _BARE.search(text)
    if bare and text.count(b"(") + text.count(b"{") < text.count(b")") + text.count(b"}"):
        return problem_at(content, start + bare.start(), "`(` is missing after `$`")
    position = 0
    while (position := text.find(b"$", position)) >= 0:
        opener = text[position + 1 : position + 2]
        if opener not in {b"(", b"{"}:
            position += 2
            continue
        closer, depth = (b")" if opener == b"(" else b"}"), 0
        for match in _PAIRS[opener].finditer(text, position):
            depth += 1 if match[0] == opener else -1
            if depth == 0:
                break
        if depth:
            return problem_at(
                content, start + position, f"`${opener.decode()}` is not closed: `{closer.decode()}` is missing"
            )
        position += 2
    return None


def _plain(content: bytes, start: int, line: bytes) -> Problem | None:
    """Outside of recipes; in recipes the shell's quotes and `case` patterns decide."""
    if line.startswith(b"\t"):
        text = re.sub(rb"\$\$", b"  ", line)
        marks = [Mark(match.start() + start, match["mark"]) for match in _SHELL.finditer(text) if match["mark"]]
        found = brackets.unbalanced(content, marks)
        plain = re.sub(rb"\$[({]\w+[)}]", lambda match: b"x" * len(match[0]), text).lstrip(b"\t@+- ")
        tree = grammars.parse("bash", plain, limit_s=TIME_LIMIT_S) if found else None
        return found if tree is not None and tree.root_node.has_error and text.count(b"(") != text.count(b")") else None
    text = _COMMENT.sub(b"", line)
    if re.search(rb"[\"'`]|\bcase\b|\\[(){}]", text):
        return None
    return brackets.unbalanced(
        content, [Mark(start + match.start(), match[0]) for match in re.finditer(rb"[(){}]", text)]
    )
