"""Which functions and lines of a Python file are new or changed, and where its probes go (`instrumentation`)."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager

from swarmgate.workspace.instrumentation import FIRST, PROBE, Mode, Rewritten, Unit

Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = Function | ast.ClassDef | ast.Lambda
_Compound = ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith | ast.Try | ast.TryStar | ast.Match
_PARTS = ("body", "orelse", "finalbody", "handlers", "cases")
_LOGS = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "exit", "_exit"})
"""Calls by which an error branch speaks or ends."""
_ELSEWHERE = ("TYPE_CHECKING", "__name__", "sys.platform", "os.name", "sys.version_info", "platform.system")
"""What a condition asks whose branch another program, system or version of Python takes."""
_COOKIE = re.compile(r"^([ \t\f]*#.*?coding)[:=](?=[ \t]*[-\w.]+)", re.ASCII)
"""How a file declares its encoding in one of its first two lines (PEP 263)."""
_NOTHING = frozenset({"None", "NotImplemented"})
_DEEP = 12_000
"""Frames for a tree of the depth that Python's own compiler still takes (3,000 in 3.11), at a few frames a level."""
_QUIET = frozenset({"__exit__", "__aexit__"})
"""A true result of these swallows the errors of the tests themselves."""
_BOOLEAN = frozenset({"isinstance", "issubclass", "any", "all", "bool", "callable", "hasattr"})
_BOOLEAN_METHODS = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__bool__"})


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


def definitions(tree: ast.AST, above: str = "") -> Iterator[tuple[str, Function]]:
    """Every function by its dotted name, those in functions and classes as well."""
    for node in ast.iter_child_nodes(tree):
        inner = above
        if isinstance(node, Function):
            yield f"{above}{node.name}", node
        if isinstance(node, Function | ast.ClassDef):
            inner = f"{above}{node.name}."
        yield from definitions(node, inner)


class _Marking:
    """Finds what of a file is new or changed, and where its probes go."""

    def __init__(
        self, path: str, source: bytes, tree: ast.Module, olds: list[ast.Module], lines: Collection[int], number: int
    ) -> None:
        self._path, self._tree, self._source, self._added, self._number = path, tree, source, frozenset(lines), number
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._groups = _groups(self._added)
        self._known = {name for name, _ in definitions(olds[0])} if olds else set()
        self._same = {meant for old in olds for meant in _meanings(old)}
        self._elsewhere = frozenset(map(id, _elsewhere(tree)))
        self._insertions: list[tuple[int, int, str]] = []
        self._units: list[Unit] = []
        self._functions: dict[str, str] = {}
        self._defined: dict[str, str] = {}
        self._lambdas = {ast.dump(node) for old in olds for node in ast.walk(old) if isinstance(node, ast.Lambda)}
        self._module: list[tuple[str, int]] = []
        self._count = 0

    def result(self) -> Rewritten:
        self._outside(self._tree.body)
        meanings = _meanings(ast.parse(self._source.decode()))
        for (name, node), meant in zip(definitions(self._tree), meanings, strict=True):
            if meant not in self._same and not _only_declares(node):
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

    @property
    def _imported(self) -> str:
        """The probe that says that the file ran at all."""
        return f"{self._number}.0"

    def _outside(self, body: list[ast.stmt]) -> None:
        """Changed statements of the module and its classes: one of them has to run."""
        for node in _own(body):
            if isinstance(node, ast.ClassDef):
                self._outside(node.body)
            elif isinstance(node, Function) or _is_exempt(node) or _is_future(node):
                continue
            elif self._group(node) is not None and self._can_stand_before(node):
                self._module.append((self._statement(node), node.lineno))
                for each in _named_lambdas(node):
                    self._lambda(each)

    def _lambda(self, node: ast.Lambda) -> None:
        """Puts the probe of a function without a name around what it gives."""
        if ast.dump(node) in self._lambdas:
            return
        probe, body = self._probe(), node.body
        self._functions[probe] = f"a lambda ({self._path}:{node.lineno})"
        gives = "untrue" if _is_boolean(body) else "wrong"
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
        for branch in _branches_elsewhere(node.body):
            found |= self._changed_parts(name, branch, self._statement(branch[0]))
        if not found:
            self._units.append(Unit(self._path, name, node.lineno, (entry,)))

    def _changed_parts(self, name: str, body: list[ast.stmt], defined: str = "") -> bool:
        """Asks for the groups of changed lines in a body, where `defined` ran; whether anything is changed in it."""
        asked: dict[int, list[tuple[str, int]]] = {}
        headers: dict[int, list[tuple[str, int]]] = {}
        silent = False
        for each in _own(body):
            group = self._group(each)
            if group is None or not self._can_stand_before(each):
                continue
            if _is_exempt(each):
                silent = True
            elif isinstance(each, _Compound | ast.ClassDef):
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
        first = next(each for each in node.body if not _is_docstring(each))
        head = f'if {PROBE}("{probe}", 1): return {_wrong(node)}'.rstrip()
        offset = self._offset(first)
        start = self._starts[_line(first) - 1]
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
        later = (each for each in self._tree.body if not _is_docstring(each) and not _is_future(each))
        node = next(later)
        first = self._before(node, FIRST)
        self._insertions.append((self._offset(node), -1, first.replace(FIRST, f'{FIRST};{PROBE}("{self._imported}")')))

    def _before(self, node: ast.stmt, call: str) -> str:
        if not isinstance(node, _Compound | ast.ClassDef | Function):
            return f"{call};"
        offset = self._offset(node)
        return f"{call}\n{self._source[self._starts[_line(node) - 1] : offset].decode()}"

    def _can_stand_before(self, node: ast.stmt) -> bool:
        return not (isinstance(node, ast.If) and self._source[self._offset(node) :].startswith(b"elif"))

    def _offset(self, node: ast.stmt) -> int:
        line = _line(node)
        if line != node.lineno:  # a decorator: the sign stands before its expression
            text = self._source[self._starts[line - 1] :]
            return self._starts[line - 1] + len(text) - len(text.lstrip(b" \t\f"))
        return self._starts[line - 1] + node.col_offset

    def _group(self, node: ast.stmt) -> int | None:
        """Which of the groups of neighbouring added lines a statement, or the head of a compound one, belongs to."""
        last = node.end_lineno or node.lineno
        if isinstance(node, _Compound | ast.ClassDef | Function):
            inner = node.cases[0].pattern if isinstance(node, ast.Match) else node.body[0]
            last = max(node.lineno, inner.lineno - 1)
        return next((self._groups[line] for line in range(_line(node), last + 1) if line in self._groups), None)

    def _probe(self) -> str:
        self._count += 1
        return f"{self._number}.{self._count}"


def _groups(lines: Iterable[int]) -> dict[int, int]:
    """The first line of the run of neighbouring lines in which each line stands."""
    found: dict[int, int] = {}
    for line in sorted(lines):
        found[line] = found.get(line - 1, line)
    return found


def _line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", None)
    return min([node.lineno, *(each.lineno for each in decorators)]) if decorators else node.lineno


def _own(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """The statements of a function, those in its branches as well, without what another system or an error takes."""
    for node in body:
        if isinstance(node, ast.stmt) and not _is_docstring(node):
            yield node
        if isinstance(node, Function | ast.ClassDef | ast.ExceptHandler):
            continue
        if isinstance(node, ast.If) and _asks_elsewhere(node.test):
            yield from _own(node.orelse)
            continue
        for name in _PARTS:
            yield from _own(getattr(node, name, ()))


def _branches_elsewhere(body: Iterable[ast.AST]) -> Iterator[list[ast.stmt]]:
    """The branches of a function that `_own` leaves out for what their conditions ask; taken here, they have to run."""
    for node in body:
        if isinstance(node, Function | ast.ClassDef | ast.ExceptHandler):
            continue
        if isinstance(node, ast.If) and _asks_elsewhere(node.test):
            yield node.body
        for name in _PARTS:
            yield from _branches_elsewhere(getattr(node, name, ()))


def _is_exempt(node: ast.stmt) -> bool:
    """Whether no test is asked to run a statement: it is the end of an error branch, or does nothing."""
    if isinstance(node, ast.Raise | ast.Pass | ast.Assert | ast.Global | ast.Nonlocal) or _is_docstring(node):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        return isinstance(called, ast.Attribute) and called.attr in _LOGS
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _asks_elsewhere(test: ast.expr) -> bool:
    text = ast.unparse(test)
    return any(word in text for word in _ELSEWHERE)


def _elsewhere(tree: ast.Module) -> Iterator[ast.AST]:
    """What stands below a condition that another program, system or version meets, or below an error."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) or (isinstance(node, ast.If) and _asks_elsewhere(node.test)):
            yield from (each for part in node.body for each in ast.walk(part))


def _meanings(tree: ast.Module) -> list[str]:
    """What each function of `definitions` means, docstrings and layout aside. The tree is of no other use after it."""
    for node in ast.walk(tree):
        if isinstance(node, Function | ast.ClassDef):
            node.body = [each for each in node.body if not _is_docstring(each)]
    return [ast.dump(node) for _, node in definitions(tree)]


def _named_lambdas(node: ast.stmt) -> Iterator[ast.Lambda]:
    """The lambdas that a statement gives a name or a place; no default, which is a keyword that asks for nothing."""
    stack: list[ast.AST] = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, ast.Lambda):
            yield each
        elif not ((isinstance(each, ast.stmt) and each is not node) or _is_default(each)):
            stack.extend(ast.iter_child_nodes(each))


def _is_default(node: ast.AST) -> bool:
    """Whether it is `default_factory=lambda: []`: what most tests of a record never look at."""
    if not (isinstance(node, ast.keyword) and isinstance(node.value, ast.Lambda)):
        return False
    takes = node.value.args
    return not (takes.posonlyargs or takes.args or takes.kwonlyargs or takes.vararg or takes.kwarg)


def _only_declares(node: Function) -> bool:
    """Whether there is nothing to replace: a body does nothing, or raises. What decorates it says nothing of that."""
    return all(
        isinstance(each, ast.Raise | ast.Pass)
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        or (isinstance(each, ast.Return) and (each.value is None or ast.unparse(each.value) in _NOTHING))
        for each in node.body
    )


def _wrong(node: Function) -> str:
    """What a replaced body returns: nothing where the function gives nothing, else what no caller can take for right.

    A test that asks only whether the result is true gets an error of a function that answers yes or no, and passes
    with any other: an object, of which every one is true.
    """
    scope = list(_scope(node.body))
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in scope) or node.name in _QUIET:
        return ""
    values = [each.value for each in scope if isinstance(each, ast.Return) and each.value is not None]
    values = [each for each in values if not (isinstance(each, ast.Constant) and each.value is None)]
    if not values:
        return ""
    says = node.returns is not None and ast.unparse(node.returns).strip("'\"") == "bool"
    boolean = says or node.name in _BOOLEAN_METHODS or all(map(_is_boolean, values))
    return f"{PROBE}.{'untrue' if boolean else 'wrong'}"


def _is_boolean(value: ast.expr) -> bool:
    if isinstance(value, ast.Compare) or (isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)):
        return True
    if isinstance(value, ast.BoolOp):
        return all(map(_is_boolean, value.values))
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in _BOOLEAN
    return isinstance(value, ast.Constant) and isinstance(value.value, bool)


def _scope(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Everything that belongs to a function itself, not to one inside of it."""
    for node in nodes:
        yield node
        if not isinstance(node, _Scope):
            yield from _scope(ast.iter_child_nodes(node))


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
    """Says of a test's name, as a runner reports it, whether that test stood in the file before, the very same.

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
