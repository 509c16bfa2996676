"""Splits source text into functions and tokens with lizard, in 27 languages."""

from __future__ import annotations

import re
import sys
from collections import Counter, deque
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from swarmgate.gates.project.files import language_of
from swarmgate.gates.quality import switch_cases

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_READ_AS = {
    ".mts": ".ts", ".cts": ".ts", ".pyw": ".py", ".hxx": ".hpp", ".rake": ".rb", ".gemspec": ".rb", ".sc": ".scala",
}  # fmt: skip
"""Suffixes that lizard does not know, and one that it reads the same way."""

_ESCAPE = re.compile(r"\\[^\n]")
_CONTINUED = 4

_ARMS = frozenset({"case", "when", "=>", "->"})
"""Where some of lizard's readers count a decision beside their list of conditions."""


@dataclass(frozen=True)
class Function:
    """One function or method.

    Complexity is McCabe's as lizard counts it (1 and one for each branch, `and`, `or`), where all plain cases of
    switches together count as one decision.

    `length` counts lines of code without comments, blank lines and the functions inside it.
    """

    name: str
    path: str
    line: int
    end: int
    complexity: int
    length: int
    text: tuple[str, ...] = field(repr=False, default=())


@dataclass(frozen=True, slots=True)
class Token:
    """A token and the line where it ends."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """The functions and tokens of one file, as lizard reads them.

    `branches` says how many tokens of a line may count as a decision. `broken`: lizard could not read the file.
    """

    functions: tuple[Function, ...] = ()
    tokens: tuple[Token, ...] = ()
    branches: Mapping[int, int] = field(default_factory=dict)
    broken: bool = False


def known(path: str) -> bool:
    """Whether lizard reads files of this name."""
    return _reader(_named(path)) is not None


def measure(path: str, text: str) -> Code:
    """The functions and tokens of a text; nothing for a language that lizard does not know.

    Whoever wrote the code has no say: lizard's own `forgive` comments and its "GENERATED CODE" mark are ignored.
    """
    if not known(path):
        return Code()
    lizard = _lizard()
    tokens: list[Token] = []
    branches = Counter[int]()

    def record(stream: Iterator[str], reader: Any) -> Iterator[str]:
        decisions = _ARMS | set(reader.conditions)
        for token in stream:
            line = reader.context.current_line
            tokens.append(Token(line, token))
            if token in decisions:
                branches[line] += 1
            yield token

    steps = [lizard.preprocessing, _uncommented, lizard.line_counter, record]
    # Not lizard's own loop: that one prints a RecursionError to the terminal and goes on with half a file.
    reader = _reader(_named(path))(lizard.FileInfoBuilder(_named(path)))
    try:
        stream = reader.generate_tokens(_harmless(path, text))
        for step in (*steps, lizard.token_counter, lizard.condition_counter):
            stream = step(stream, reader)
        deque(reader(stream, reader), maxlen=0)
        found = reader.context.fileinfo.function_list
    except Exception:  # noqa: BLE001 - its readers raise whatever they stumble over (1.5% of TypeScript files)
        return Code(broken=True)
    lines = [line.strip() for line in text.split("\n")]
    functions = [
        Function(
            name=each.name,
            path=path,
            line=each.start_line,
            end=each.end_line,
            complexity=_complexity(each, lines),
            length=each.nloc,
            text=tuple(lines[each.start_line - 1 : each.end_line]),
        )
        for each in found
    ]
    return Code(tuple(sorted(functions, key=lambda each: (each.line, -each.end))), tuple(tokens), branches)


def _complexity(function: Any, lines: list[str]) -> int:
    language = language_of(function.filename)
    plain = switch_cases.plain(language, lines[function.start_line - 1 : function.end_line])
    return max(int(function.cyclomatic_complexity) - max(plain - 1, 0), 1)


def tokens_of(path: str, text: str) -> tuple[Token, ...]:
    """The tokens alone, in half the time."""
    lizard = _lizard()
    kind = _reader(_named(path))
    if kind is None:
        return ()
    reader = kind(lizard.FileInfoBuilder(_named(path)))
    stream = reader.generate_tokens(_harmless(path, text))
    for step in (lizard.preprocessing, _uncommented, lizard.line_counter):
        stream = step(stream, reader)
    return tuple(Token(reader.context.current_line, token) for token in stream)


def _uncommented(tokens: Iterator[str], reader: Any) -> Iterator[str]:
    for token in tokens:
        comment = reader.get_comment_from_token(token)
        if comment is None:
            yield token
        else:
            yield from "\n" * len(comment.splitlines()[1:])


def _harmless(path: str, text: str) -> str:
    """The text without the backslashes of Python's strings.

    Each of them doubles the time in which lizard's expression finds that a triple quote is never closed: with thirty it
    does not come back, and holds the whole process. A few that continue a line are borne, more are taken out as well.
    """
    if language_of(path) != "python" or "\\" not in text:
        return text
    text = _ESCAPE.sub("__", text)
    return text.replace("\\\n", " \n") if text.count("\\\n") > _CONTINUED else text


def _named(path: str) -> str:
    """A plain file name of the same kind: lizard goes by the suffix, and by patterns that odd names do not match."""
    _, dot, suffix = path.rpartition(".")
    return f"code{_READ_AS.get(f'.{suffix.lower()}', f'.{suffix}')}" if dot else ""


def _reader(path: str) -> Any:
    return _lizard().get_reader_for(path)


@cache
def _lizard() -> ModuleType:
    before = list(sys.path)
    import lizard  # type: ignore[import-untyped]  # noqa: PLC0415 - late: 0.05 s that a change without code saves

    for entry in [entry for entry in sys.path if entry not in before]:
        sys.path.remove(entry)  # it puts the folder of the running program first, where anything may lie
    return lizard  # type: ignore[no-any-return]  # it has no types
