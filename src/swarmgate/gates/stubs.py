"""Python functions whose body is missing, told by the syntax tree, and the many bodies that are rightly empty."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Function = ast.FunctionDef | ast.AsyncFunctionDef

_DECLARATIONS = {
    "abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod", "overload", "singledispatch",
    "singledispatchmethod", "type_check_only",
    "callback", "group", "hookspec",  # click, typer, pluggy: the decorator does the work
}  # fmt: skip
_ABSTRACT_BASES = {"Protocol", "ABC", "ABCMeta", "Interface"}
_INTENDED = re.compile(
    r"\bno-?op\b|\b(?:does|do|doing|did) nothing\b|\bnothing (?:to|is|needs|happens)\b|\bintentional|\bdeliberate"
    r"|\bon purpose\b|\bignor(?:e|ed|es|ing)\b|\bsilen(?:t|ce)|\bhook\b|\bby design\b"
    r"|\bnot (?:needed|necessary|supported|required|used)\b"
    r"|\bsubclass|\boverrid|\babstract\b|\bunused\b|\bno (?:action|effect|need)\b|\bempty\b|\bunsupported\b",
    re.IGNORECASE,
)
_NO_OP_NAME = re.compile(r"no_?op|^_?nop$|null|dummy|donothing|do_nothing|(?-i:^_?No[A-Z])", re.IGNORECASE)
_MESSAGES = {
    "pass": "`{name}` has no body, only `pass`",
    "...": "`{name}` has no body, only `...`",
    "raise": "`{name}` only raises NotImplementedError",
    "docstring": "`{name}` has no body, only a docstring, and says that it returns something",
}


def find(tree: ast.Module, remarks: Mapping[int, str]) -> Iterator[tuple[int, str, str]]:
    """Every stub as (line, rule, message).

    Args:
        tree: the module.
        remarks: the comments by line, since a comment may give the reason for an empty body.
    """
    overridden = _overridden(tree)
    for function, owner in _functions(tree):
        kind = _stub(function)
        if _declared(function, owner) or (owner and (owner.name, function.name) in overridden):
            continue
        if not kind:
            yield from _gaps(function)
        elif not _explained(function, remarks):
            yield function.lineno, "stub-body", _MESSAGES[kind].format(name=function.name)


def _functions(tree: ast.Module) -> Iterator[tuple[Function, ast.ClassDef | None]]:
    """Every function with the class whose method it is. Only statements are entered, so depth is that of the blocks."""
    pending: list[tuple[ast.AST, ast.ClassDef | None]] = [(tree, None)]
    while pending:
        node, owner = pending.pop()
        if isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, owner
            owner = None
        elif isinstance(node, ast.ClassDef):
            owner = node
        blocks = (ast.stmt, ast.ExceptHandler, ast.match_case)
        pending += [(child, owner) for child in ast.iter_child_nodes(node) if isinstance(child, blocks)]


def _stub(function: Function) -> str:
    """The kind of an empty body, or nothing."""
    body = [statement for statement in function.body if not _is_text(statement)]
    if not body:
        returns = function.returns
        void = returns is None or (isinstance(returns, ast.Constant) and returns.value is None)
        return "" if void or _last_name(returns) in {"None", "NoReturn", "Never"} else "docstring"
    if all(isinstance(statement, ast.Pass) for statement in body):
        return "pass"
    if all(_is_ellipsis(statement) for statement in body):
        return "..."
    first = body[0]
    if len(body) == 1 and isinstance(first, ast.Raise) and first.exc is not None:
        raised = first.exc.func if isinstance(first.exc, ast.Call) else first.exc
        return "raise" if _last_name(raised) == "NotImplementedError" else ""
    return ""


def _gaps(function: Function) -> Iterator[tuple[int, str, str]]:
    for node in ast.walk(function):
        body = getattr(node, "body", None)
        if not isinstance(body, list) or (
            node is not function and isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        ):
            continue
        for statement in body:
            if _is_ellipsis(statement) and len(body) > 1:
                yield statement.lineno, "elided-code", "`...` stands for code that was left out"


def _declared(function: Function, owner: ast.ClassDef | None) -> bool:
    """Whether the body is empty because of what the function is."""
    if any(_last_name(decorator) in _DECLARATIONS for decorator in function.decorator_list):
        return True
    if _NO_OP_NAME.search(function.name):
        return True
    if owner is None:
        return False
    if _NO_OP_NAME.search(owner.name):
        return True
    bases = [*owner.bases, *(keyword.value for keyword in owner.keywords if keyword.arg == "metaclass")]
    return any(_last_name(base) in _ABSTRACT_BASES or "Protocol" in _last_name(base) for base in bases)


def _explained(function: Function, remarks: Mapping[int, str]) -> bool:
    end = function.end_lineno or function.lineno
    # Only what stands with the body, the line before it included: not the whole story above.
    said = [ast.get_docstring(function) or "", *(remarks.get(line, "") for line in range(function.lineno, end + 1))]
    first = function.body[0]
    if isinstance(first, ast.Raise) and isinstance(first.exc, ast.Call):
        said += [
            part.value for part in first.exc.args if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
    return any(_INTENDED.search(text) for text in said)


def _overridden(tree: ast.Module) -> set[tuple[str, str]]:
    """Methods (class, name) that a subclass in the same module gives a body: the base's is a declaration."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            names = {
                item.name
                for item in node.body
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and not _stub(item)
            }
            found |= {(_last_name(base), name) for base in node.bases for name in names}
    return found


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _is_ellipsis(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and statement.value.value is ...
    )


def _last_name(node: ast.AST | None) -> str:
    """The last part of `a.b.c`, `c[T]`, `c(...)`; empty for anything else."""
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
