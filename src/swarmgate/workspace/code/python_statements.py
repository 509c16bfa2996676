"""Classifies Python statements and functions: which are executable, which have no effect, what they return."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from swarmgate.workspace.code.instrumentation import PROBE

Function = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = Function | ast.ClassDef | ast.Lambda
Compound = ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith | ast.Try | ast.TryStar | ast.Match
_PARTS = ("body", "orelse", "finalbody", "handlers", "cases")
_LOGS = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "exit", "_exit"})
"""Calls by which an error branch speaks or ends."""
_ELSEWHERE = ("TYPE_CHECKING", "__name__", "sys.platform", "os.name", "sys.version_info", "platform.system")
"""What a condition asks whose branch another program, system or version of Python takes."""
_NOTHING = frozenset({"None", "NotImplemented"})
_QUIET = frozenset({"__exit__", "__aexit__"})
"""A true result of these swallows the errors of the tests themselves."""
_BOOLEAN = frozenset({"isinstance", "issubclass", "any", "all", "bool", "callable", "hasattr"})
_BOOLEAN_METHODS = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__bool__"})


def definitions(tree: ast.AST, above: str = "") -> Iterator[tuple[str, Function]]:
    """Every function by its dotted name, those in functions and classes as well."""
    for node in ast.iter_child_nodes(tree):
        inner = above
        if isinstance(node, Function):
            yield f"{above}{node.name}", node
        if isinstance(node, Function | ast.ClassDef):
            inner = f"{above}{node.name}."
        yield from definitions(node, inner)


def neighbours(lines: Iterable[int]) -> dict[int, int]:
    """The first line of the run of neighbouring lines in which each line stands."""
    found: dict[int, int] = {}
    for line in sorted(lines):
        found[line] = found.get(line - 1, line)
    return found


def first_line(node: ast.stmt) -> int:
    """The line where a statement begins, its decorators included."""
    decorators = getattr(node, "decorator_list", None)
    return min([node.lineno, *(each.lineno for each in decorators)]) if decorators else node.lineno


def own_statements(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """The statements of a function, those in its branches as well, without what another system or an error takes."""
    for node in body:
        if isinstance(node, ast.stmt) and not is_docstring(node):
            yield node
        if isinstance(node, Function | ast.ClassDef | ast.ExceptHandler):
            continue
        if isinstance(node, ast.If) and _asks_elsewhere(node.test):
            yield from own_statements(node.orelse)
            continue
        for name in _PARTS:
            yield from own_statements(getattr(node, name, ()))


def branches_elsewhere(body: Iterable[ast.AST]) -> Iterator[list[ast.stmt]]:
    """The branches that `own_statements` leaves out for what their conditions ask; taken here, they have to run."""
    for node in body:
        if isinstance(node, Function | ast.ClassDef | ast.ExceptHandler):
            continue
        if isinstance(node, ast.If) and _asks_elsewhere(node.test):
            yield node.body
        for name in _PARTS:
            yield from branches_elsewhere(getattr(node, name, ()))


def is_exempt(node: ast.stmt) -> bool:
    """Whether no test is asked to run a statement: it is the end of an error branch, or does nothing."""
    if isinstance(node, ast.Raise | ast.Pass | ast.Assert | ast.Global | ast.Nonlocal) or is_docstring(node):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        return isinstance(called, ast.Attribute) and called.attr in _LOGS
    return is_constant(node)


def is_constant(node: ast.stmt) -> bool:
    """Whether a statement is a value that stands alone: a text, or `...`."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_docstring(node: ast.stmt) -> bool:
    """Whether a statement is a text that stands alone."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_future(node: ast.stmt) -> bool:
    """Whether it is an import that has to stand first."""
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _asks_elsewhere(test: ast.expr) -> bool:
    text = ast.unparse(test)
    return any(word in text for word in _ELSEWHERE)


def below_elsewhere(tree: ast.Module) -> Iterator[ast.AST]:
    """What stands below a condition that another program, system or version meets, or below an error."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) or (isinstance(node, ast.If) and _asks_elsewhere(node.test)):
            yield from (each for part in node.body for each in ast.walk(part))


def for_type_checkers(tree: ast.Module) -> Iterator[ast.AST]:
    """What stands below `if TYPE_CHECKING`."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name | ast.Attribute)):
            continue
        if ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from (each for part in node.body for each in ast.walk(part))


def meanings(tree: ast.Module) -> list[str]:
    """What each function of `definitions` means, docstrings and layout aside. The tree is of no other use after it."""
    for node in ast.walk(tree):
        if isinstance(node, Function | ast.ClassDef):
            node.body = [each for each in node.body if not is_docstring(each)]
    return [ast.dump(node) for _, node in definitions(tree)]


def named_lambdas(node: ast.stmt) -> Iterator[ast.Lambda]:
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


def only_declares(node: Function) -> bool:
    """Whether there is nothing to replace: a body does nothing, or raises. What decorates it says nothing of that."""
    return all(
        isinstance(each, ast.Raise | ast.Pass)
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        or (isinstance(each, ast.Return) and (each.value is None or ast.unparse(each.value) in _NOTHING))
        for each in node.body
    )


def wrong_result(node: Function) -> str:
    """What a replaced body returns: nothing where the function gives nothing, else what no caller can take for right.

    A test that asks only whether the result is true gets an error of a function that answers yes or no, and passes
    with any other: an object, of which every one is true.
    """
    scope = list(own_nodes(node.body))
    if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in scope) or node.name in _QUIET:
        return ""
    values = [each.value for each in scope if isinstance(each, ast.Return) and each.value is not None]
    values = [each for each in values if not (isinstance(each, ast.Constant) and each.value is None)]
    if not values:
        return ""
    declared = node.returns is not None and ast.unparse(node.returns).strip("'\"") == "bool"
    boolean = declared or node.name in _BOOLEAN_METHODS or all(map(is_boolean, values))
    return f"{PROBE}.{'untrue' if boolean else 'wrong'}"


def is_boolean(value: ast.expr) -> bool:
    """Whether an expression is boolean, as far as its form tells."""
    if isinstance(value, ast.Compare) or (isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)):
        return True
    if isinstance(value, ast.BoolOp):
        return all(map(is_boolean, value.values))
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in _BOOLEAN
    return isinstance(value, ast.Constant) and isinstance(value.value, bool)


def own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Everything that belongs to a function itself, not to one inside of it."""
    for node in nodes:
        yield node
        if not isinstance(node, _Scope):
            yield from own_nodes(ast.iter_child_nodes(node))
