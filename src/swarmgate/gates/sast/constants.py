"""Which expressions of a Python function cannot hold anything from outside, by running its body on what is known.

The engine's taint analysis follows a value through any container and every branch. This one is the opposite: it starts
from constants, knows what stands under which key, takes the branch that a constant condition leaves, and calls a value
clean only where it is made of constants alone. Whatever it does not know is `OUTSIDE`.
"""

from __future__ import annotations

import ast
import copy
import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

OUTSIDE = type("Outside", (), {"__repr__": lambda _: "OUTSIDE", "__deepcopy__": lambda me, _: me})()
CLEAN = type("Clean", (), {"__repr__": lambda _: "CLEAN", "__deepcopy__": lambda me, _: me})()

_SIMPLE = (str, bytes, int, float, bool, type(None))
_MAX_TEXT = 10_000
_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_,
    ast.IsNot: operator.is_not, ast.Not: operator.not_, ast.USub: operator.neg,
    ast.In: lambda item, group: item in group, ast.NotIn: lambda item, group: item not in group,
}  # fmt: skip
_PURE_METHODS = {
    "lower", "upper", "strip", "lstrip", "rstrip", "replace", "split", "format", "join", "encode", "decode", "title",
    "startswith", "endswith", "find", "index", "count", "isdigit", "splitlines", "partition", "rpartition", "zfill",
    "resolve", "joinpath", "with_suffix", "as_posix", "hex", "copy",
}  # fmt: skip
_PURE_CALLS = {
    "str",
    "repr",
    "int",
    "float",
    "bytes",
    "len",
    "bool",
    "ord",
    "chr",
    "format",
    "abs",
    "min",
    "max",
    "sum",
}
_PURE_MODULES = ("base64.", "urllib.parse.", "html.", "json.dumps", "shlex.", "os.path.", "pathlib.Path", "Path")
_PARSERS = {"configparser.ConfigParser", "ConfigParser", "configparser.RawConfigParser"}


class _Settings(dict[Any, Any]):
    """What a ConfigParser holds: section -> key -> value."""


def clean(value: Any) -> bool:
    """Whether a value is made of constants alone."""
    if isinstance(value, dict):
        return all(map(clean, value.values()))
    if isinstance(value, list):
        return all(map(clean, value))
    return value is not OUTSIDE


class Run:
    """Runs one function body; afterwards `is_clean` answers for the nodes that were asked for."""

    def __init__(self, body: list[ast.stmt], known: dict[str, Any], targets: Iterable[ast.AST]) -> None:
        self._targets = {id(node) for node in targets}
        self._seen: dict[int, bool] = {}
        self._dead: set[int] = set()
        self._env: dict[str, Any] | None = dict(known)
        self._block(body)

    def is_clean(self, node: ast.AST) -> bool:
        """Whether the node was only ever clean, or cannot be reached."""
        return self._seen.get(id(node), id(node) in self._dead)

    # --- statements -------------------------------------------------------------------------------------------------

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self._env is None:
                return
            handler = getattr(self, f"_do_{type(statement).__name__.lower()}", None)
            if handler:
                handler(statement)
            else:
                self._do_unknown(statement)

    def _do_unknown(self, node: ast.stmt) -> None:
        for each in ast.walk(node):
            if isinstance(each, ast.expr) and id(each) in self._targets:
                self._seen[id(each)] = False
        self._forget(_stored(node))

    def _do_expr(self, node: ast.Expr) -> None:
        self._value(node.value)

    def _do_return(self, node: ast.Return | ast.Raise) -> None:
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.expr):
                self._value(each)
        self._env = None

    _do_raise = _do_return

    def _do_pass(self, node: ast.Pass) -> None:
        del node

    def _do_assign(self, node: ast.Assign) -> None:
        value = self._value(node.value)
        for target in node.targets:
            self._bind(target, value)

    def _do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self._bind(node.target, self._value(node.value))

    def _do_augassign(self, node: ast.AugAssign) -> None:
        read = ast.copy_location(ast.BinOp(_loaded(node.target), node.op, node.value), node)
        self._bind(node.target, self._value(read))

    def _do_if(self, node: ast.If) -> None:
        self._branches(self._value(node.test), node.body, node.orelse)

    def _do_match(self, node: ast.Match) -> None:
        subject = self._value(node.subject)
        remaining = list(node.cases)
        ways: list[list[ast.stmt]] = []
        while remaining:
            case = remaining.pop(0)
            fits = None if case.guard else _fits(case.pattern, subject)
            if fits is False:
                self._bury(case.body)
                continue
            self._forget(_stored(case.pattern))
            ways.append(case.body)
            if fits:
                for other in remaining:
                    self._bury(other.body)
                break
        else:
            ways.append([])
        self._join(ways)

    def _do_with(self, node: ast.With) -> None:
        for item in node.items:
            value = self._value(item.context_expr)
            if item.optional_vars:
                self._bind(item.optional_vars, CLEAN if value is CLEAN else OUTSIDE)
        self._block(node.body)

    _do_asyncwith = _do_with

    def _do_try(self, node: ast.Try) -> None:
        for handler in node.handlers:
            self._forget_later(handler)
        touched = _stored(node)
        before = copy.deepcopy(self._env)
        self._block(node.body + node.orelse)
        after = self._env
        ends = [after]
        for handler in node.handlers:
            self._env = copy.deepcopy(before)
            self._forget(touched)
            self._block(handler.body)
            ends.append(self._env)
        self._env = _merged(ends)
        if self._env is None and node.finalbody:
            self._env = {}
            self._block(node.finalbody)
            self._env = None
        else:
            self._block(node.finalbody)

    def _do_for(self, node: ast.For | ast.While) -> None:
        for each in (getattr(node, "iter", None), getattr(node, "test", None)):
            if each is not None:
                self._forget(_stored(node)) if isinstance(node, ast.While) else None
                self._value(each)
        self._forget(_stored(node))
        before = copy.deepcopy(self._env)
        self._block(node.body)
        self._env = before
        self._block(node.orelse)

    _do_while = _do_for
    _do_asyncfor = _do_for

    def _do_break(self, node: ast.stmt) -> None:
        del node
        self._env = None

    _do_continue = _do_break

    def _do_import(self, node: ast.stmt) -> None:
        del node

    _do_importfrom = _do_import
    _do_global = _do_unknown
    _do_nonlocal = _do_unknown

    def _branches(self, test: Any, body: list[ast.stmt], orelse: list[ast.stmt]) -> None:
        if isinstance(test, _SIMPLE):
            self._bury(orelse if test else body)
            self._block(body if test else orelse)
        else:
            self._join([body, orelse])

    def _join(self, ways: list[list[ast.stmt]]) -> None:
        before, ends = self._env, []
        for way in ways:
            self._env = copy.deepcopy(before)
            self._block(way)
            ends.append(self._env)
        self._env = _merged(ends)

    def _bury(self, statements: list[ast.stmt]) -> None:
        self._dead |= {id(node) for statement in statements for node in ast.walk(statement)}

    def _forget(self, names: Iterable[str]) -> None:
        if self._env is not None:
            self._env.update(dict.fromkeys(names, OUTSIDE))

    def _forget_later(self, handler: ast.ExceptHandler) -> None:
        if handler.name:
            self._forget([handler.name])

    def _bind(self, target: ast.expr, value: Any) -> None:
        env = self._env if self._env is not None else {}
        if isinstance(target, ast.Name):
            env[target.id] = value
        elif isinstance(target, ast.Subscript):
            holder, key = self._value(target.value), self._value(target.slice)
            _store(holder, key, value)
            if not isinstance(holder, dict) and value is OUTSIDE:
                self._forget(_root(target))
        elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, list) and len(value) == len(target.elts):
            for each, part in zip(target.elts, value, strict=True):
                self._bind(each, part)
        else:
            self._forget(_stored(target))
            self._forget(_root(target))

    # --- expressions ------------------------------------------------------------------------------------------------

    def _value(self, node: ast.expr) -> Any:
        handler = getattr(self, f"_of_{type(node).__name__.lower()}", self._of_unknown)
        value = handler(node)
        if id(node) in self._targets:
            self._seen[id(node)] = self._seen.get(id(node), True) and clean(value)
        return value

    def _of_unknown(self, node: ast.expr) -> Any:
        for each in ast.walk(node):
            if id(each) in self._targets and each is not node:
                self._seen[id(each)] = False
        self._forget(_stored(node))
        return OUTSIDE

    def _of_constant(self, node: ast.Constant) -> Any:
        return node.value if isinstance(node.value, _SIMPLE) else CLEAN

    def _of_name(self, node: ast.Name) -> Any:
        return (self._env or {}).get(node.id, OUTSIDE)

    def _of_namedexpr(self, node: ast.NamedExpr) -> Any:
        value = self._value(node.value)
        self._bind(node.target, value)
        return value

    def _of_await(self, node: ast.Await) -> Any:
        return self._value(node.value)

    def _of_attribute(self, node: ast.Attribute) -> Any:
        value = self._value(node.value)
        return CLEAN if value is CLEAN or isinstance(value, _SIMPLE) else OUTSIDE

    def _of_joinedstr(self, node: ast.JoinedStr) -> Any:
        parts = [self._value(each.value if isinstance(each, ast.FormattedValue) else each) for each in node.values]
        plain = all(isinstance(each, ast.Constant) or _is_plain(each) for each in node.values)
        if plain and all(isinstance(part, str | int) for part in parts):
            return "".join(map(str, parts))[:_MAX_TEXT]
        return CLEAN if all(map(clean, parts)) else OUTSIDE

    def _of_binop(self, node: ast.BinOp) -> Any:
        return _folded(node.op, [self._value(node.left), self._value(node.right)])

    def _of_unaryop(self, node: ast.UnaryOp) -> Any:
        return _folded(node.op, [self._value(node.operand)])

    def _of_compare(self, node: ast.Compare) -> Any:
        values = [self._value(each) for each in (node.left, *node.comparators)]
        if len(node.ops) == 1:
            return _folded(node.ops[0], values)
        return CLEAN if all(map(clean, values)) else OUTSIDE

    def _of_boolop(self, node: ast.BoolOp) -> Any:
        values = [self._value(each) for each in node.values]
        if all(isinstance(value, _SIMPLE) for value in values):
            return all(values) if isinstance(node.op, ast.And) else any(values)
        return CLEAN if all(map(clean, values)) else OUTSIDE

    def _of_ifexp(self, node: ast.IfExp) -> Any:
        test = self._value(node.test)
        if isinstance(test, _SIMPLE):
            self._dead |= {id(each) for each in ast.walk(node.orelse if test else node.body)}
            return self._value(node.body if test else node.orelse)
        return _joined([self._value(node.body), self._value(node.orelse)])

    def _of_list(self, node: ast.List | ast.Tuple | ast.Set) -> Any:
        return [self._value(each) for each in node.elts]

    _of_tuple = _of_list
    _of_set = _of_list

    def _of_starred(self, node: ast.Starred) -> Any:
        return self._value(node.value)

    def _of_dict(self, node: ast.Dict) -> Any:
        keys = [self._value(key) if key else OUTSIDE for key in node.keys]
        values = [self._value(value) for value in node.values]
        if all(isinstance(key, _SIMPLE) for key in keys):
            return dict(zip(keys, values, strict=True))
        return CLEAN if all(map(clean, values)) else OUTSIDE

    def _of_subscript(self, node: ast.Subscript) -> Any:
        holder = self._value(node.value)
        if isinstance(node.slice, ast.Slice):
            bounds = [self._value(each) for each in (node.slice.lower, node.slice.upper) if each]
            return CLEAN if all(map(clean, [holder, *bounds])) else OUTSIDE
        return _item(holder, self._value(node.slice))

    def _of_call(self, node: ast.Call) -> Any:
        values = [self._value(each) for each in (*node.args, *(keyword.value for keyword in node.keywords))]
        name = ast.unparse(node.func) if isinstance(node.func, ast.Attribute | ast.Name) else ""
        if name in _PARSERS:
            return _Settings()
        if name in _PURE_CALLS or name.startswith(_PURE_MODULES):
            return CLEAN if all(map(clean, values)) else OUTSIDE
        if isinstance(node.func, ast.Attribute):
            holder = self._value(node.func.value)
            known = _method(holder, node.func.attr, values)
            if known is not NotImplemented:
                return known
            self._forget(_root(node.func))
        self._forget(name for each in node.args for name in _changeable(each, self._env or {}))
        return OUTSIDE


def _method(holder: Any, name: str, values: list[Any]) -> Any:
    """What a method gives back, with its effect on the holder; NotImplemented when unknown."""
    if isinstance(holder, _Settings):
        return _settings(holder, name, values)
    if isinstance(holder, list):
        return _list(holder, name, values)
    if isinstance(holder, dict):
        if name == "get" and values:
            found = _item(holder, values[0]) if _has(holder, values[0]) else (values[1:] or [None])[0]
            return found if isinstance(values[0], _SIMPLE) else _joined([*holder.values(), *values[1:]])
        return NotImplemented
    if name not in _PURE_METHODS or not (isinstance(holder, _SIMPLE) or holder is CLEAN):
        return NotImplemented
    if isinstance(holder, str) and all(isinstance(value, _SIMPLE) for value in values):
        try:
            result = getattr(holder, name)(*values)
        except Exception:  # noqa: BLE001 - whatever the call would raise at run time
            return CLEAN
        return result if isinstance(result, _SIMPLE) else CLEAN
    return CLEAN if all(map(clean, values)) else OUTSIDE


def _list(holder: list[Any], name: str, values: list[Any]) -> Any:
    if name == "append" and len(values) == 1:
        holder.append(values[0])
        return None
    if name == "insert" and len(values) == 2 and isinstance(values[0], int):  # noqa: PLR2004 - position and value
        holder.insert(*values)
        return None
    if name == "pop" and all(isinstance(value, int) for value in values):
        try:
            return holder.pop(*values)
        except IndexError:
            return CLEAN
    return NotImplemented


def _settings(holder: _Settings, name: str, values: list[Any]) -> Any:
    if name == "add_section" and values:
        holder.setdefault(values[0], {})
        return None
    if name == "set" and len(values) == 3:  # noqa: PLR2004 - section, key, value
        _store(holder.setdefault(values[0], {}), values[1], values[2])
        return None
    if name == "get" and len(values) > 1:
        return _item(_item(holder, values[0]), values[1])
    return NotImplemented


def _store(holder: Any, key: Any, value: Any) -> None:
    if isinstance(holder, dict) and isinstance(key, _SIMPLE):
        holder[key] = value
    elif isinstance(holder, dict):
        for each in holder:
            holder[each] = _joined([holder[each], value])
        holder[object()] = value
    elif isinstance(holder, list):
        holder[:] = [_joined([each, value]) for each in holder]


def _has(holder: Any, key: Any) -> bool:
    return isinstance(key, _SIMPLE) and key in holder


def _item(holder: Any, key: Any) -> Any:
    try:
        if isinstance(holder, dict | list | str) and isinstance(key, _SIMPLE):
            return holder[key]  # type: ignore[index]  # a wrong kind of key is a TypeError, caught below
    except (KeyError, IndexError, TypeError):
        return OUTSIDE
    return CLEAN if clean(holder) and clean(key) else OUTSIDE


def _folded(kind: ast.AST, values: list[Any]) -> Any:
    if not all(map(clean, values)):
        return OUTSIDE
    function = _OPERATORS.get(type(kind))
    long = isinstance(kind, ast.Mult) and not all(isinstance(value, int | float) for value in values)
    if function is None or long or not all(isinstance(value, _SIMPLE) for value in values):
        return CLEAN
    try:
        result = function(*values)
    except Exception:  # noqa: BLE001 - whatever the operation would raise at run time
        return CLEAN
    return result if isinstance(result, _SIMPLE) else CLEAN


def _joined(values: list[Any]) -> Any:
    first = values[0] if values else CLEAN
    if all(type(value) is type(first) and value == first for value in values):
        return first
    return CLEAN if all(map(clean, values)) else OUTSIDE


def _merged(ends: list[dict[str, Any] | None]) -> dict[str, Any] | None:
    alive = [end for end in ends if end is not None]
    if not alive:
        return None
    names = {name for end in alive for name in end}
    return {name: _joined([end.get(name, OUTSIDE) for end in alive]) for name in names}


def _fits(pattern: ast.pattern, subject: Any) -> bool | None:
    """Whether a case is taken; None when that is unknown."""
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
        return True
    if isinstance(pattern, ast.MatchOr):
        said = [_fits(each, subject) for each in pattern.patterns]
        return True if True in said else None if None in said else False
    if isinstance(pattern, ast.MatchValue) and isinstance(pattern.value, ast.Constant) and isinstance(subject, _SIMPLE):
        return bool(pattern.value.value == subject)
    return None


def _stored(node: ast.AST) -> Iterator[str]:
    """Names that a piece of code binds or may change."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del):
            yield each.id
        elif isinstance(each, ast.Subscript | ast.Attribute) and isinstance(each.ctx, ast.Store | ast.Del):
            yield from _root(each)
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            yield from _root(each.func)
        elif isinstance(each, ast.MatchAs | ast.MatchStar) and each.name:
            yield each.name
        elif isinstance(each, ast.Global | ast.Nonlocal):
            yield from each.names


def _root(node: ast.AST) -> Iterator[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Name):
        yield node.id


def _changeable(node: ast.expr, env: dict[str, Any]) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(env.get(node.id), dict | list):
        yield node.id


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.FormattedValue) and node.conversion == -1 and node.format_spec is None


def _loaded(target: ast.expr) -> ast.expr:
    read = copy.deepcopy(target)
    for each in ast.walk(read):
        if isinstance(each, ast.Name | ast.Attribute | ast.Subscript):
            each.ctx = ast.Load()
    return read
