"""Finds which names of the project's modules a Python file imports, reads and calls."""

from __future__ import annotations

import ast
import builtins
import posixpath
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.gates.contracts.python.module_facts import absolute
from swarmgate.gates.contracts.python.scopes import Ref, Scope, function_scope, module_scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from swarmgate.gates.contracts.model import Parameter, Signature

_FORGIVING = {
    "ImportError",
    "ModuleNotFoundError",
    "AttributeError",
    "NameError",
    "TypeError",
    "Exception",
    "BaseException",
}
_EXPECTING = {"raises", "assertRaises", "assertRaisesRegex", "suppress", "warns", "deprecated_call"}


@dataclass(frozen=True)
class Use:
    """One use of a name: the target, the place, and `how`: import, name, call, listed (in the own `__all__`).

    `bare`: a name by itself, without a dot.
    """

    ref: Ref
    line: int
    column: int
    how: str
    call: ast.Call | None = None
    awaited: bool = False
    alone: bool = False
    bare: bool = False


def forgives(node: ast.Try) -> bool:
    """Whether the error of a missing name is caught there."""
    return bool({name for each in node.handlers for name in caught(each)} & _FORGIVING)


def uses(tree: ast.Module, path: str, *, forgives: Callable[[ast.Try], bool] = forgives) -> list[Use]:
    """Every certain use in a file, except where an error of it is expected or caught (`forgives`)."""
    visitor = _Visitor(path, tree, forgives)
    visitor.visit(tree)
    return [use for use in visitor.found if not (use.ref.names and use.ref.names[-1] in visitor.tested)]


class _Visitor(ast.NodeVisitor):
    def __init__(self, path: str, tree: ast.Module, forgives: Callable[[ast.Try], bool]) -> None:
        self.forgives = forgives
        self.path, self.own = path, "/" + posixpath.splitext(path)[0]
        self.module = module_scope(tree, self.own)
        self.scopes: list[Scope] = []
        self.visible: Scope = dict(self.module)
        self.header: Scope | None = None  # what the decorators and defaults of a method see
        self.classes: list[str] = []
        self.found: list[Use] = []
        self.tested: set[str] = set()
        self.stars = [absolute(path, each) for each in tree.body if isinstance(each, ast.ImportFrom) and _is_star(each)]
        self.forgiven = 0
        self.flags: dict[ast.AST, str] = {}

    def _add(self, ref: Ref, node: ast.expr | ast.stmt, how: str, call: ast.Call | None = None) -> None:
        if not self.forgiven:
            flag = self.flags.get(call, "") if call else ""
            bare = isinstance(node, ast.Name)
            self.found.append(
                Use(ref, node.lineno, node.col_offset + 1, how, call, flag == "await", flag == "alone", bare)
            )  # fmt: skip

    # --- where names lead ---

    def _lookup(self, name: str) -> Ref | None:
        if name in self.visible:
            return self.visible[name]
        if hasattr(builtins, name):
            return None
        if len(self.stars) == 1 and name not in self.module:
            return Ref(self.stars[0], (name,))
        return None if self.stars else Ref(self.own, (name,))

    def _ref(self, node: ast.expr) -> Ref | None:
        if isinstance(node, ast.Name):
            return self._lookup(node.id)
        if isinstance(node, ast.Attribute):
            ref = self._ref(node.value)
            return ref.below(node.attr) if ref else None
        if isinstance(node, ast.Call):
            ref = self._ref(node.func)
            return replace(ref, instance=True) if ref and not ref.instance else None
        return None

    # --- uses ---

    def visit_Name(self, node: ast.Name) -> None:
        ref = self._lookup(node.id) if isinstance(node.ctx, ast.Load) else None
        if ref:
            self._add(ref, node, "name")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        ref = self._ref(node) if isinstance(node.ctx, ast.Load) else None
        if ref:
            self._add(ref, node, "name")
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        ref = self._ref(node.func)
        if ref:
            self._add(ref, node.func, "call", node)
        if isinstance(node.func, ast.Name) and node.func.id in {"hasattr", "getattr", "delattr", "setattr"}:
            self.tested |= {each.value for each in node.args if isinstance(each, ast.Constant)
                           and isinstance(each.value, str)}  # fmt: skip
        self.generic_visit(node)

    def visit_Await(self, node: ast.Await) -> None:
        self.flags[node.value] = "await"
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        self.flags[node.value] = "alone"
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            self._add(Ref(each.name), node, "import")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = absolute(self.path, node)
        for each in node.names:
            self._add(Ref(module, () if each.name == "*" else (each.name,)), node, "import")

    def visit_Assign(self, node: ast.Assign) -> None:
        names = [each.id for each in node.targets if isinstance(each, ast.Name)]
        if names == ["__all__"] and not self.scopes and isinstance(node.value, ast.List | ast.Tuple):
            for each in node.value.elts:
                known = isinstance(each, ast.Constant) and isinstance(each.value, str)
                if known and not self.stars and each.value not in self.module:  # type: ignore[attr-defined]  # known
                    self._add(Ref(self.own, (each.value,)), each, "listed")  # type: ignore[attr-defined]  # known
        self.generic_visit(node)

    # --- scopes ---

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        header, self.header, visible = self.header, None, self.visible
        self.visible = visible if header is None else header
        for each in (*getattr(node, "decorator_list", ()), *_outside(node)):
            self.visit(each)
        self.visible = visible
        scope = function_scope(node, self.visible, self.own)
        if self.classes and self.classes[-1] and not isinstance(node, ast.Lambda):
            self._receiver(node, scope)
        before, forgiven = (self.visible, self.classes), self.forgiven
        self.visible, self.classes, self.forgiven = self.visible | scope, [*self.classes, ""], 0
        self.scopes.append(scope)
        for each in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(each)
        self.scopes.pop()
        (self.visible, self.classes), self.forgiven = before, forgiven

    def _receiver(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        words = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
        arguments = [*node.args.posonlyargs, *node.args.args]
        if "staticmethod" in words or not arguments:
            return
        bound = node.name in {"__new__", "__init_subclass__", "__class_getitem__"} or "classmethod" in words
        if self.module.get(self.classes[-1]) and arguments[0].arg in {"self", "cls"}:
            scope[arguments[0].arg] = Ref(self.own, (self.classes[-1],), instance=not bound, own=True)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for each in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(each)
        before = self.visible, self.classes
        names = {name for each in node.body for name in _defined(each)}
        outermost = not self.scopes and not self.classes
        self.classes = [*self.classes, node.name if outermost else ""]
        inner = self.visible | dict.fromkeys(names)
        for each in node.body:
            # A class's own names are seen in its body and not in its functions.
            inside = isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
            self.visible, self.header = (before[0], inner) if inside else (inner, None)
            self.visit(each)
        self.visible, self.classes = before

    # --- where errors are expected ---

    def visit_Try(self, node: ast.Try) -> None:
        forgiven = self.forgives(node)
        self.forgiven += forgiven
        for each in node.body:
            self.visit(each)
        self.forgiven -= forgiven
        for after in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(after)

    def visit_With(self, node: ast.With) -> None:
        self._with(node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> None:
        self._with(node)

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        calls = [each.context_expr for each in node.items]
        words = {ast.unparse(call.func).rpartition(".")[2] for call in calls if isinstance(call, ast.Call)}
        self.forgiven += bool(words & _EXPECTING)
        self.generic_visit(node)
        self.forgiven -= bool(words & _EXPECTING)


def _outside(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[ast.expr]:
    """What of a function is evaluated in the scope around it."""
    yield from (each for each in (*node.args.defaults, *node.args.kw_defaults) if each)
    every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg)
    yield from (each.annotation for each in every if each and each.annotation)
    returns = getattr(node, "returns", None)
    if returns:
        yield returns


def _defined(node: ast.stmt) -> Iterator[str]:
    for each in [node] if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else ast.walk(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield each.name
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id
        elif isinstance(each, ast.alias):
            yield each.asname or each.name.partition(".")[0]


def caught(handler: ast.ExceptHandler) -> Iterator[str]:
    """The exceptions that a handler catches; a bare one catches `Exception`."""
    if handler.type is None:
        yield "Exception"
    for each in ast.walk(handler.type) if handler.type else ():
        if isinstance(each, ast.Name):
            yield each.id


def _is_star(node: ast.ImportFrom) -> bool:
    return any(each.name == "*" for each in node.names)


class Misfit(NamedTuple):
    """Why arguments cannot be bound to parameters, in words that follow `it`, and the parameter that it is about."""

    how: str
    parameter: str = ""


def misfit(signature: Signature, call: ast.Call, *, skip: int = 0) -> Misfit | None:
    """Why these arguments cannot be bound to the parameters; None when they can, or may.

    `skip`: how many positional arguments go before the parameters (the object, in `Class.method(object)`).
    """
    starred = any(isinstance(each, ast.Starred) for each in call.args)
    given = max(0, sum(not isinstance(each, ast.Starred) for each in call.args) - skip)
    keywords = {each.arg for each in call.keywords if each.arg}
    double = any(each.arg is None for each in call.keywords)
    positional = [each for each in signature if each.kind.positional]
    kinds = {each.kind.name for each in signature}
    if given > len(positional) and "REST" not in kinds:
        return Misfit(f"passes {given} arguments by position, it takes {len(positional)}")
    named = {each.name for each in signature if each.kind.name in {"EITHER", "KEYWORD"}}
    unknown = sorted(keywords - named)
    if unknown and "KEYWORD_REST" not in kinds:
        return Misfit(f"passes `{unknown[0]}=`, which is no parameter", unknown[0])
    filled = {each.name for each in positional[:given]}
    twice = sorted(filled & keywords & named)
    if twice:
        return Misfit(f"passes `{twice[0]}` twice", twice[0])
    missing = [each for each in signature if _missing(each, filled | keywords, starred=starred, double=double)]
    return Misfit(f"does not pass `{missing[0].name}`", missing[0].name) if missing else None


def _missing(parameter: Parameter, given: set[str], *, starred: bool, double: bool) -> bool:
    if not parameter.required or parameter.kind.variadic or parameter.name in given:
        return False
    by_star = starred and parameter.kind.positional
    return not by_star and not (double and parameter.kind.name != "POSITIONAL")
