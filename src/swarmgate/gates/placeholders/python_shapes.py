"""Describes the body of a Python function for the detection of fake implementations."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from swarmgate.gates.placeholders.fake_implementations import Shape
from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

Definition = ast.FunctionDef | ast.AsyncFunctionDef

_DICE = {"random", "secrets", "rand"}


def shape_of(
    node: Definition, owner: ast.ClassDef | None, tree: ast.Module, body: Sequence[ast.stmt], printed: str | None
) -> Shape | None:
    """The shape of a function.

    Args:
        node: the function, with a body whose statements do no work, or `copies`.
        owner: the class that it is a method of.
        tree: its module.
        body: its statements without documentation.
        printed: what it prints or logs; None where it does not.
    """
    outermost = owner or node
    if outermost not in tree.body or node.decorator_list or node.name.startswith("__"):
        return None
    if owner is not None and (_derives(owner) or owner.decorator_list or owner.name in _bases(tree)):
        return None
    if node.name in _handed_on(tree):
        return None
    arguments = node.args
    named = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    named = named[1:] if owner is not None and named[:1] in (["self"], ["cls"]) else named
    given = tuple(each for each in named if not each.startswith("_"))
    if not given and (named or arguments.vararg or arguments.kwarg):
        return None
    value = _returned(body)
    if value is None and printed is None:
        return None
    try:
        result = ast.unparse(value) if value is not None else ""
    except RecursionError:  # data, nested deeper than it can be shown
        return None
    copied = (
        {each.id for each in python_tree.walk(value) if isinstance(each, ast.Name)} & set(given) if value else set()
    )
    return Shape(
        node.name,
        owner.name if owner else "",
        given,
        result=result,
        chance=value is not None and _drawn(value),
        talks=printed is not None or bool(copied),
        printed=printed or "",
        doc=ast.get_docstring(node) or "",
    )


def copies(statement: ast.stmt, function: Definition) -> bool:
    """Whether a statement only returns a literal into which parameters are copied, or draws a result at random."""
    if not isinstance(statement, ast.Return) or statement.value is None:
        return False
    arguments = function.args
    given = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    if _drawn(statement.value):
        return not any(isinstance(each, ast.Name) and each.id in given for each in python_tree.walk(statement.value))
    return isinstance(statement.value, ast.Dict | ast.List | ast.JoinedStr) and all(
        isinstance(
            each,
            ast.Dict | ast.List | ast.JoinedStr | ast.FormattedValue | ast.Constant | ast.expr_context | ast.Attribute
            | ast.UnaryOp | ast.USub | ast.Tuple,
        )
        or (isinstance(each, ast.Name) and each.id in given)
        for each in python_tree.walk(statement.value)
    ) and _invented(statement.value)  # fmt: skip


def _invented(value: ast.expr) -> bool:
    """Whether a literal holds values that come from nowhere: not keys alone."""
    if isinstance(value, ast.Dict):
        return any(isinstance(each, ast.Constant) and each.value is not None for each in value.values)
    return True


def _drawn(value: ast.expr) -> bool:
    for each in python_tree.walk(value):
        if isinstance(each, ast.Call):
            root: ast.expr = each.func
            while isinstance(root, ast.Attribute):
                if root.attr in _DICE:
                    return True
                root = root.value
            if isinstance(root, ast.Name) and root.id in _DICE:
                return True
    return False


def _returned(body: Sequence[ast.stmt]) -> ast.expr | None:
    """What is returned; for a name, what was assigned to it."""
    last = body[-1] if body else None
    value = last.value if isinstance(last, ast.Return) else None
    if isinstance(value, ast.Name):
        for statement in body:
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                if any(isinstance(each, ast.Name) and each.id == value.id for each in targets):
                    return statement.value
    return value


def _derives(owner: ast.ClassDef) -> bool:
    return bool(owner.keywords) or any(ast.unparse(base) != "object" for base in owner.bases)


@functools.lru_cache(maxsize=4)
def _bases(tree: ast.Module) -> frozenset[str]:
    """The names of classes from which others of the module derive."""
    classes = (each for each in python_tree.walk(tree) if isinstance(each, ast.ClassDef))
    return frozenset(base.id for each in classes for base in each.bases if isinstance(base, ast.Name))


@functools.lru_cache(maxsize=4)
def _handed_on(tree: ast.Module) -> frozenset[str]:
    """The names that are handed on without being called, and those that are defined more than once."""
    called = {id(each.func) for each in python_tree.walk(tree) if isinstance(each, ast.Call)}
    found, defined = set[str](), set[str]()
    for each in python_tree.walk(tree):
        if isinstance(each, ast.Name | ast.Attribute) and isinstance(each.ctx, ast.Load) and id(each) not in called:
            found.add(each.id if isinstance(each, ast.Name) else each.attr)
        elif isinstance(each, Definition) and each in tree.body:
            found |= {each.name} & defined
            defined.add(each.name)
    return frozenset(found)
