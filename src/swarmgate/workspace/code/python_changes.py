"""Finds the new and changed functions and lines of a Python file, and where to insert coverage probes."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager

from swarmgate.workspace.code.instrumentation import FIRST, PROBE, Mode, Rewritten, Unit
from swarmgate.workspace.code.python_statements import (
    Compound,
    Function,
    below_elsewhere,
    branches_elsewhere,
    definitions,
    first_line,
    for_type_checkers,
    is_boolean,
    is_constant,
    is_docstring,
    is_exempt,
    is_future,
    meanings,
    named_lambdas,
    neighbours,
    only_declares,
    own_statements,
    wrong_result,
)

_COOKIE = re.compile(r"^([ \t\f]*#.*?coding)[:=](?=[ \t]*[-\w.]+)", re.ASCII)
"""How a file declares its encoding in one of its first two lines (PEP 263)."""
_DEEP = 12_000
"""Frames for a tree of the depth that Python's own compiler still takes (3,000 in 3.11), at a few frames a level."""


def rewritten(
    path: str, before: Iterable[bytes], after: bytes, lines: Collection[int], number: int
) -> Rewritten | None:
    """The changed file with its probes; None where it cannot be read as Python.

    Args:
        path: of the file.
        before: the texts of the files that the change replaces, its own old text first; a function that stands there
            with the very same body is neither new nor changed.
        after: its text with the change.
        lines: the numbers of the added lines, from 1.
        number: makes the probes of several files different.
    """
    try:
        with _deep():
            source = _in_utf8(after)
            tree = ast.parse(source.decode())
            olds = [ast.parse(text) for text in before]
            found = _Marking(path, source, tree, olds, lines, number).result()
            ast.parse(found.text(Mode.RAISE, (), name="_probe"))
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
        return None
    return found


def probed(path: str, after: bytes, lines: Collection[int], number: int) -> Rewritten | None:
    """The changed file with a probe before each added statement, which is a unit; None where it cannot be read.

    Args:
        path: of the file.
        after: its text with the change.
        lines: the numbers of the added lines, from 1.
        number: makes the probes of several files different.
    """
    try:
        with _deep():
            source = _in_utf8(after)
            found = _Marking(path, source, ast.parse(source.decode()), [], lines, number).each_statement()
            ast.parse(found.text(Mode.PASS, (), name="_probe"))
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
        return None
    return found


def _in_utf8(content: bytes) -> bytes:
    """The text of a file in UTF-8, whatever it declares; of another encoding it declares none any more."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    if encoding in {"utf-8", "utf-8-sig"}:
        return content.removeprefix(b"\xef\xbb\xbf")
    lines = content.decode(encoding).splitlines(keepends=True)
    head = [_COOKIE.sub(r"\1 ", line) for line in lines[:2]]
    return "".join([*head, *lines[2:]]).encode()


@contextmanager
def _deep() -> Iterator[None]:
    """Trees are read as deep as the compiler takes them: what it takes can run."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEP))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


class _Marking:
    """Finds what of a file is new or changed, and where its probes go."""

    def __init__(
        self, path: str, source: bytes, tree: ast.Module, olds: list[ast.Module], lines: Collection[int], number: int
    ) -> None:
        self._path, self._tree, self._source, self._added, self._number = path, tree, source, frozenset(lines), number
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._groups = neighbours(self._added)
        self._known = {name for name, _ in definitions(olds[0])} if olds else set()
        self._same = {meant for old in olds for meant in meanings(old)}
        self._elsewhere = frozenset(map(id, below_elsewhere(tree)))
        self._insertions: list[tuple[int, int, str]] = []
        self._units: list[Unit] = []
        self._functions: dict[str, str] = {}
        self._defined: dict[str, str] = {}
        self._lambdas = {ast.dump(node) for old in olds for node in ast.walk(old) if isinstance(node, ast.Lambda)}
        self._module: list[tuple[str, int]] = []
        self._count = 0

    def result(self) -> Rewritten:
        self._outside(self._tree.body)
        meant_by = meanings(ast.parse(self._source.decode()))
        for (name, node), meant in zip(definitions(self._tree), meant_by, strict=True):
            if meant not in self._same and not only_declares(node):
                self._function(name, node, self._statement(node) if id(node) in self._elsewhere else "")
        if self._module:
            probes = tuple(probe for probe, _ in self._module)
            self._units.append(Unit(self._path, "the module", min(line for _, line in self._module), probes))
        if self._insertions:
            self._first()
        ordered = sorted(self._insertions, key=lambda each: each[:2])
        places = tuple((offset, text) for offset, _, text in ordered)
        units = tuple(sorted(self._units, key=lambda unit: unit.line))
        return Rewritten(
            self._path, units, dict(self._functions), self._source, places, dict(self._defined), self._imported
        )

    def each_statement(self) -> Rewritten:
        """The file with a unit for each added statement, the heads of branches and definitions among them.

        What stands for type checkers alone, and a `...` that stands for a body, is none: no program runs it.
        """
        never = frozenset(map(id, for_type_checkers(self._tree)))
        units = [
            Unit(self._path, f"line {node.lineno}", node.lineno, (self._statement(node),))
            for node in ast.walk(self._tree)
            if isinstance(node, ast.stmt) and not isinstance(node, ast.Global | ast.Nonlocal)
            if not is_constant(node) and not is_future(node) and id(node) not in never
            if self._group(node) is not None and self._can_stand_before(node)
        ]
        if units:
            self._first()
        places = tuple((offset, text) for offset, _, text in sorted(self._insertions, key=lambda each: each[:2]))
        return Rewritten(self._path, tuple(sorted(units, key=lambda unit: unit.line)), {}, self._source, places)

    @property
    def _imported(self) -> str:
        """The probe that reports that the file ran at all."""
        return f"{self._number}.0"

    def _outside(self, body: list[ast.stmt]) -> None:
        """Changed statements of the module and its classes: one of them has to run."""
        for node in own_statements(body):
            if isinstance(node, ast.ClassDef):
                self._outside(node.body)
            elif isinstance(node, Function) or is_exempt(node) or is_future(node):
                continue
            elif self._group(node) is not None and self._can_stand_before(node):
                self._module.append((self._statement(node), node.lineno))
                for each in named_lambdas(node):
                    self._lambda(each)

    def _lambda(self, node: ast.Lambda) -> None:
        """Puts the probe of a function without a name around what it gives."""
        if ast.dump(node) in self._lambdas:
            return
        probe, body = self._probe(), node.body
        self._functions[probe] = f"a lambda ({self._path}:{node.lineno})"
        gives = "untrue" if is_boolean(body) else "wrong"
        end = self._starts[(body.end_lineno or body.lineno) - 1] + (body.end_col_offset or 0)
        start = self._starts[body.lineno - 1] + body.col_offset
        self._insertions.append((start, 0, f'({PROBE}.{gives} if {PROBE}("{probe}", 1) else ('))
        self._insertions.append((end, 0, "))"))

    def _function(self, name: str, node: Function, defined: str) -> None:
        """`defined`: the probe before a definition that another program, system or error would reach; else empty."""
        entry = self._entry(name, node)
        if defined:
            self._defined[entry] = defined
        if name not in self._known or defined:
            self._units.append(Unit(self._path, name, node.lineno, (entry,), defined, self._imported))
            return
        found = self._changed_parts(name, node.body)
        for branch in branches_elsewhere(node.body):
            found |= self._changed_parts(name, branch, self._statement(branch[0]))
        if not found:
            self._units.append(Unit(self._path, name, node.lineno, (entry,)))

    def _changed_parts(self, name: str, body: list[ast.stmt], defined: str = "") -> bool:
        """Asks for the groups of changed lines in a body, where `defined` ran; whether anything is changed in it."""
        asked: dict[int, list[tuple[str, int]]] = {}
        headers: dict[int, list[tuple[str, int]]] = {}
        silent = False
        for each in own_statements(body):
            group = self._group(each)
            if group is None or not self._can_stand_before(each):
                continue
            if is_exempt(each):
                silent = True
            elif isinstance(each, Compound | ast.ClassDef):
                headers.setdefault(group, []).append((self._statement(each), each.lineno))
            elif not isinstance(each, Function):
                asked.setdefault(group, []).append((self._statement(each), each.lineno))
        for group in sorted({*asked, *headers}):
            probes = asked.get(group) or headers[group]
            line = min(line for _, line in probes)
            ran = tuple(probe for probe, _ in probes)
            self._units.append(Unit(self._path, name, line, ran, defined, self._imported))
        return bool(asked or headers or silent)

    def _entry(self, name: str, node: Function) -> str:
        """Puts the probe of a function's body where it begins, and says what it returns when it is replaced."""
        probe = self._probe()
        self._functions[probe] = f"{name} ({self._path}:{node.lineno})"
        first = next(each for each in node.body if not is_docstring(each))
        head = f'if {PROBE}("{probe}", 1): return {wrong_result(node)}'.rstrip()
        offset = self._offset(first)
        start = self._starts[first_line(first) - 1]
        before = self._source[start:offset]
        if before.strip():  # on the line of the `def`
            own = self._source[self._starts[node.lineno - 1] :]
            indent = own[: len(own) - len(own.lstrip(b" \t\f"))].decode() + "    "
            self._insertions.append((offset, 0, f"\n{indent}{head}\n{indent}"))
        else:
            self._insertions.append((offset, 0, f"{head}\n{before.decode()}"))
        return probe

    def _statement(self, node: ast.stmt) -> str:
        """Puts a probe before a statement."""
        probe = self._probe()
        self._insertions.append((self._offset(node), 1, self._before(node, f'{PROBE}("{probe}")')))
        return probe

    def _first(self) -> None:
        """What makes the probe stands before everything that asks it."""
        later = (each for each in self._tree.body if not is_docstring(each) and not is_future(each))
        node = next(later)
        first = self._before(node, FIRST)
        self._insertions.append((self._offset(node), -1, first.replace(FIRST, f'{FIRST};{PROBE}("{self._imported}")')))

    def _before(self, node: ast.stmt, call: str) -> str:
        if not isinstance(node, Compound | ast.ClassDef | Function):
            return f"{call};"
        offset = self._offset(node)
        return f"{call}\n{self._source[self._starts[first_line(node) - 1] : offset].decode()}"

    def _can_stand_before(self, node: ast.stmt) -> bool:
        return not (isinstance(node, ast.If) and self._source[self._offset(node) :].startswith(b"elif"))

    def _offset(self, node: ast.stmt) -> int:
        line = first_line(node)
        if line != node.lineno:  # a decorator: the sign stands before its expression
            text = self._source[self._starts[line - 1] :]
            return self._starts[line - 1] + len(text) - len(text.lstrip(b" \t\f"))
        return self._starts[line - 1] + node.col_offset

    def _group(self, node: ast.stmt) -> int | None:
        """Which of the groups of neighbouring added lines a statement, or the head of a compound one, belongs to."""
        last = node.end_lineno or node.lineno
        if isinstance(node, Compound | ast.ClassDef | Function):
            inner = node.cases[0].pattern if isinstance(node, ast.Match) else node.body[0]
            last = max(node.lineno, inner.lineno - 1)
        return next((self._groups[line] for line in range(first_line(node), last + 1) if line in self._groups), None)

    def _probe(self) -> str:
        self._count += 1
        return f"{self._number}.{self._count}"


def functions_of(texts: Iterable[bytes]) -> set[tuple[str, str]]:
    """The functions of these files by their names alone, with what they mean; nothing of what is no Python."""
    found = set()
    for text in texts:
        try:
            found |= {(node.name, ast.dump(node)) for _, node in definitions(ast.parse(text))}
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return found


def unchanged(path: str, before: bytes | None, after: bytes | None) -> Callable[[str], bool]:
    """Builds a test of whether a test, by its reported name, is unchanged in the new file.

    Args:
        path: of the test file.
        before: its text before the change.
        after: its text with it.
    """
    try:
        old = {name: ast.dump(node) for name, node in definitions(ast.parse(before or b""))}
        new = {name: ast.dump(node) for name, node in definitions(ast.parse(after or b""))}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return lambda _name: False
    same = {name for name, meant in new.items() if old.get(name) == meant}

    def stood(name: str) -> bool:
        file, _, rest = name.partition("::")
        return file == path and rest.partition("[")[0].replace("::", ".") in same

    return stood
