"""Makes breaking and harmless mutations of Python modules, one edit at a time, for `benchmarks/contracts.py`."""

from __future__ import annotations

import ast
import copy
import itertools
import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Function = ast.FunctionDef | ast.AsyncFunctionDef


class Mutant(NamedTuple):
    """One edit: its kind, whether it breaks a contract, and the files after it (the module itself under its name)."""

    kind: str
    breaks: bool
    files: dict[str, str]


class Module:
    """A module's text and tree, and the public things in it that can be broken."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text, self.lines = name, text, text.split("\n")
        self.tree = ast.parse(text)
        self.exports = _exports(self.tree)
        names = [node.name for node in ast.walk(self.tree) if isinstance(node, (ast.ClassDef, *Function_))]
        self.once = {each for each in names if names.count(each) == 1}
        self.functions = [node for node in self.tree.body if isinstance(node, Function_) and self.public(node.name)]
        self.classes = [node for node in self.tree.body if isinstance(node, ast.ClassDef) and self.public(node.name)]
        self.sole = {
            each.name for cls in self.classes if not cls.bases for each in cls.body if isinstance(each, Function_)
        }  # fmt: skip
        self.methods = [
            method for each in self.classes for method in each.body
            if isinstance(method, Function_) and not method.name.startswith("_") and not method.decorator_list
            and sum(getattr(other, "name", "") == method.name for other in each.body) == 1
        ]  # fmt: skip

    def public(self, name: str) -> bool:
        """Whether a name is public and defined once."""
        listed = name in self.exports if self.exports is not None else not name.startswith("_")
        return listed and name in self.once

    def without(self, node: ast.stmt) -> str:
        """The text without a statement; `pass` where nothing would be left of a block."""
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        indent = " " * node.col_offset
        rest = [f"{indent}pass"] if node.col_offset else []
        return "\n".join([*self.lines[: first - 1], *rest, *self.lines[node.end_lineno or node.lineno :]])

    def with_header(self, node: Function, edit: Callable[[Function], None]) -> str | None:
        """The text with another signature for a function; None where the body stands on the same line."""
        first = node.body[0].lineno
        if first <= node.lineno or self.lines[first - 1][: node.body[0].col_offset].strip():
            return None
        changed = copy.deepcopy(node)
        changed.decorator_list, changed.body = [], [ast.Pass()]
        edit(changed)
        header = ast.unparse(changed).rsplit("\n", 1)[0]
        indented = [" " * node.col_offset + line for line in header.split("\n")]
        return "\n".join([*self.lines[: node.lineno - 1], *indented, *self.lines[first - 1 :]])

    def inserted(self, line: int, text: str) -> str:
        """The text with a line put before one."""
        return "\n".join([*self.lines[: line - 1], text, *self.lines[line - 1 :]])


Function_ = (ast.FunctionDef, ast.AsyncFunctionDef)


def _exports(tree: ast.Module) -> set[str] | None:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            try:
                return set(ast.literal_eval(node.value))
            except ValueError:
                return set()
    return None


def _positional(node: Function) -> list[ast.arg]:
    """Positional parameters without a default, less the first of a method."""
    arguments = node.args.args[: len(node.args.args) - len(node.args.defaults)]
    return arguments[bool(node.col_offset) :]


def breaking(module: Module) -> Iterator[Mutant]:
    """Every kind of breaking edit, at every public thing it can be made on."""
    for node in module.functions:
        yield from _changed(module, node, "function")
    for node in module.methods:
        yield from _changed(module, node, "method" if node.name in module.sole else "inheriting method")
    for cls in module.classes:
        yield _mutant(module, "class removed", module.without(cls))
        yield _mutant(module, "class renamed", _replaced(module, cls.lineno, f"class {cls.name}", f"class {cls.name}X"))
        yield from _bases(module, cls)
        yield from _attributes(module, cls)
    for each in module.tree.body:
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and len(each.targets) == 1:
            name = each.targets[0].id
            once = module.text.count(f"\n{name} ") == 1 and not name.startswith("__")
            if once and (name in module.exports if module.exports is not None else not name.startswith("_")):
                yield _mutant(module, "constant removed", module.without(each))
    if module.functions or module.classes:
        yield Mutant("module removed", True, {})


def _changed(module: Module, node: Function, what: str) -> Iterator[Mutant]:
    if what != "inheriting method":  # else its base may supply it, and nothing is broken
        yield _mutant(module, f"{what} removed", module.without(node))
        old = f"def {node.name}"
        yield _mutant(module, f"{what} renamed", _replaced(module, node.lineno, old, f"{old}_x"))
    for kind, edit in _EDITS.items():
        if edit(copy.deepcopy(node)):
            text = module.with_header(node, edit)  # type: ignore[arg-type]  # its answer is not needed again
            if text is not None:
                yield _mutant(module, kind, text)
    if isinstance(node, ast.FunctionDef) and not node.decorator_list:
        made = _replaced(module, node.lineno, "def ", "async def ")
        yield _mutant(module, f"{what} made async", made)
        if what != "function" and node.args.args:
            indent = " " * node.col_offset
            yield _mutant(module, "method made property", module.inserted(node.lineno, f"{indent}@property"))


def _mutant(module: Module, kind: str, text: str) -> Mutant:
    return Mutant(kind, True, {module.name: text})


def _replaced(module: Module, line: int, old: str, new: str) -> str:
    lines = list(module.lines)
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    return "\n".join(lines)


def _add_required(node: Function) -> bool:
    node.args.args.insert(len(node.args.args) - len(node.args.defaults), ast.arg("added_x"))
    return not (node.args.vararg and not node.args.args[:-1])


def _add_required_keyword(node: Function) -> bool:
    node.args.kwonlyargs.append(ast.arg("added_x"))
    node.args.kw_defaults.append(None)
    return True


def _remove(node: Function) -> bool:
    named = _positional(node)
    if named:
        node.args.args.remove(named[-1])
    return bool(named) and not (node.args.vararg and node.args.kwarg)


def _rename(node: Function) -> bool:
    named = _positional(node)
    if named:
        named[0].arg += "_x"
    return bool(named) and not (node.args.vararg and node.args.kwarg)


def _swap(node: Function) -> bool:
    named = _positional(node)
    if len(named) < 2:
        return False
    at = node.args.args.index(named[0])
    node.args.args[at : at + 2] = node.args.args[at + 1], node.args.args[at]
    return True


def _require(node: Function) -> bool:
    if not node.args.defaults:
        return False
    node.args.defaults.pop(0)
    return True


def _default(node: Function) -> bool:
    if not node.args.defaults:
        return False
    node.args.defaults[-1] = ast.Constant("another_x")
    return True


def _keyword_only(node: Function) -> bool:
    named = node.args.args[bool(node.col_offset) :]
    if not named or node.args.vararg or node.args.defaults:
        return False
    node.args.args.remove(named[-1])
    node.args.kwonlyargs.insert(0, named[-1])
    node.args.kw_defaults.insert(0, None)
    return True


def _returns(node: Function) -> bool:
    text = ast.unparse(node.returns) if node.returns else "None"
    node.returns = ast.Name("bytearray" if text != "bytearray" else "complex")
    return not any(word in text for word in ("None", "Any", "Self", "NoReturn", "Never", "object", "complex"))


_EDITS: dict[str, Callable[[Function], bool]] = {
    "required parameter added": _add_required,
    "required keyword added": _add_required_keyword,
    "parameter removed": _remove,
    "parameter renamed": _rename,
    "parameters swapped": _swap,
    "default removed": _require,
    "default changed": _default,
    "made keyword-only": _keyword_only,
    "return changed": _returns,
}


def _bases(module: Module, cls: ast.ClassDef) -> Iterator[Mutant]:
    if len(cls.bases) == 1 and not cls.keywords and isinstance(cls.bases[0], ast.Name):
        base = cls.bases[0].id
        if base not in {"object", "ABC", "Protocol"} and not base.startswith("_"):
            yield _mutant(module, "base removed", _replaced(module, cls.lineno, f"({base})", ""))
            yield _mutant(module, "base changed", _replaced(module, cls.lineno, f"({base})", "(complex)"))


_KNOWN = {"NamedTuple", "TypedDict", "BaseModel", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "object"}


def _attributes(module: Module, cls: ast.ClassDef) -> Iterator[Mutant]:
    for node in cls.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and not target.id.startswith("_") and module.text.count(f" {target.id} ") == 1:
            if cls.bases and not any(isinstance(base, ast.Name) and base.id in _KNOWN for base in cls.bases):
                continue  # a base may supply it
            enum = any(isinstance(base, ast.Name) and base.id.endswith(("Enum", "Flag")) for base in cls.bases)
            yield _mutant(module, "enum member removed" if enum else "field removed", module.without(node))


def harmless(module: Module) -> Iterator[Mutant]:
    """Every kind of edit that keeps each contract."""

    def same(kind: str, text: str | None, **others: str) -> Iterator[Mutant]:
        if text is not None and text != module.text:
            yield Mutant(kind, False, {module.name: text, **others})

    for node in (*module.functions, *module.methods):
        body = node.body[0]
        if body.lineno > node.lineno and not module.lines[body.lineno - 1][: body.col_offset].strip():
            inserted = module.inserted(
                body.end_lineno + 1 if body.end_lineno else 1, " " * body.col_offset + "local_x = 1"
            )
            yield from same("body edited", inserted)
            if (
                isinstance(body, ast.Expr)
                and isinstance(body.value, ast.Constant)
                and isinstance(body.value.value, str)
            ):
                yield from same("docstring edited", _replaced(module, body.lineno, '"""', '"""Indeed. '))
        yield from same("optional parameter added", module.with_header(node, _add_optional))
        yield from same("optional keyword added", module.with_header(node, _add_keyword))
        yield from same("annotations added", module.with_header(node, _annotate))
    for node in module.functions:
        if not node.decorator_list and node.name in module.once:
            moved = "\n".join(module.lines[node.lineno - 1 : node.end_lineno])
            header = [f"from moved_x import {node.name}", *[""] * 3]
            text = "\n".join([*module.lines[: node.lineno - 1], *header, *module.lines[node.end_lineno or 0 :]])
            yield from same("moved with re-export", text, **{"moved_x.py": f"{moved}\n"})
    for first, second in itertools.pairwise(module.functions):
        yield from same("functions reordered", _swapped(module, first, second))
    yield from same("function added", f"{module.text}\n\ndef added_x(a, b=1):\n    return a\n")
    yield from same("class added", f"{module.text}\n\nclass AddedX:\n    def m(self):\n        return 1\n")
    yield from same("private function added", f"{module.text}\n\ndef _added_x(a, b=1):\n    return a\n")
    yield from same("comment added", f"# Looked at again.\n{module.text}" if '"""' not in module.lines[0] else None)
    yield from same(
        "formatted", _ruff(module.text, "format", "--line-length=66", "--config=format.quote-style='single'")
    )
    yield from same("modernised", _ruff(module.text, "check", "--fix-only", "--select=UP,I", "--unsafe-fixes"))
    yield from same("private names renamed", _renamed(module))


def _add_optional(node: Function) -> None:
    node.args.args.append(ast.arg("added_x"))
    node.args.defaults.append(ast.Constant(None))
    if node.args.vararg:  # behind *args only a keyword is optional
        node.args.args.pop()
        node.args.defaults.pop()
        _add_keyword(node)


def _add_keyword(node: Function) -> None:
    node.args.kwonlyargs.append(ast.arg("added_x"))
    node.args.kw_defaults.append(ast.Constant(1))


def _annotate(node: Function) -> None:
    for each in node.args.args[bool(node.col_offset) :]:
        each.annotation = each.annotation or ast.Constant("object")


def _swapped(module: Module, first: ast.stmt, second: ast.stmt) -> str | None:
    spans = []
    for node in (first, second):
        start = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]) - 1
        spans.append((start, node.end_lineno or start))
    (a, b), (c, d) = spans
    lines = module.lines
    return "\n".join([*lines[:a], *lines[c:d], *lines[b:c], *lines[a:b], *lines[d:]]) if b <= c else None


def _renamed(module: Module) -> str | None:
    listed = module.exports or set()
    for node in module.tree.body:
        if isinstance(node, Function_) and node.name.startswith("_") and not node.name.endswith("_"):
            unique = module.text.count(node.name) < 9 and node.name in module.once and node.name not in listed
            if unique and not any(node.name in each for each in module.once - {node.name}):
                return module.text.replace(node.name, f"{node.name}_x")
    return None


def _ruff(text: str, *arguments: str) -> str | None:
    done = subprocess.run(
        ["ruff", arguments[0], "--isolated", "--quiet", *arguments[1:], "--target-version=py311",
         "--stdin-filename=m.py", "-"],
        input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout if done.returncode == 0 and done.stdout else None
