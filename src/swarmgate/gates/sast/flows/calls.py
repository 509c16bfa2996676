"""Evaluates calls in the taint analysis: sources, sanitizers, propagation and sinks."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from swarmgate.gates.sast.flows import operations, sources
from swarmgate.gates.sast.flows.rule import Call, describe
from swarmgate.gates.sast.flows.values import UNKNOWN, Class, Function, Object, Ref, Text, combined, content, known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from swarmgate.gates.sast.flows.expressions import Expressions
    from swarmgate.gates.sast.flows.sinks import Places
    from swarmgate.gates.sast.flows.state import State
    from swarmgate.gates.sast.flows.values import Value

    Run = Callable[[Function, Sequence[Value], Mapping[str, Value]], Value]

_CASTS = re.compile(
    r"^(int|float|bool|len|complex|ord|hash|id|isinstance|issubclass|any|all|type|callable|range|enumerate_|sum|abs|round"
    r"|(.*\.)?(UUID|uuid[1345]|Decimal|fromisoformat|strptime|strftime|literal_eval|is_valid|exists|isfile|isdir|getsize|stat"
    r"|hexdigest|digest|check_password_hash|generate_password_hash|compare_digest|authenticate|startswith|endswith|isdigit"
    r"|isalnum|isalpha|find|rfind|index|count|monotonic|time|rowcount|commit|close|flush|ipaddress|ip_address|ip_network))$"
    r"|^(hashlib|hmac|ipaddress|datetime|secrets|bcrypt|argon2)\."
)
_QUERIES = re.compile(
    r"\.(objects|query|session|select|filter|filter_by)(\.|$)|(^|\.)(execute|executemany|scalars?|fetch(one|all|many|row|val)|get_object_or_404|get_or_404)$"
)
_CLEANS = re.compile(r"(?i)^(.*\.)?_?(sanitiz|sanitis|validat|whitelist|allowlist|ensure_safe|make_safe|to_safe)\w*$")
_SAME = re.compile(
    r"^(str|bytes|.*\.(lower|upper|strip|lstrip|rstrip|encode|decode|casefold|as_posix|expanduser|normpath|unquote(_plus)?))$"
)
_RESOLVING = re.compile(r"(^|\.)(realpath|abspath|resolve|normpath|absolute)$")
_PARSING = re.compile(r"(^|\.)(urlparse|urlsplit|url_parse|URL|Path|PurePath|PurePosixPath)$")
_NUMBER_TYPES = {"int", "float", "bool", "uuid.UUID"}


class Calls:
    """Evaluates calls.

    Args:
        state: what is known.
        expressions: gives the values of functions and arguments.
        places: looks for sinks that a name and a position do not say.
        run: gives what a function of this file gives for these arguments.
    """

    def __init__(self, state: State, expressions: Expressions, places: Places, run: Run) -> None:
        self._state, self._expressions, self._places, self._run = state, expressions, places, run

    def call(self, node: ast.Call) -> Value:
        """The value of a call."""
        holder: Value = None
        if isinstance(node.func, ast.Attribute):
            holder = self._expressions.value(node.func.value)
            callee = self._method_of(holder, node.func)
            self._state.seen[id(node.func)] = callee
        else:
            callee = self._expressions.value(node.func)
        arguments, nodes = self._arguments(node)
        keywords = {each.arg or "**": self._expressions.value(each.value) for each in node.keywords}
        name = _called(callee, holder, node.func)
        call = Call(name, _owner(holder, node.func), tuple(arguments), keywords)
        self._sinks(call, node, nodes)
        value = self._result(call, node, callee, holder)
        return self._same_input(node, value) if _is_reading(node, holder, value) else value

    def _same_input(self, node: ast.Call, value: Value) -> Value:
        """A part of the request that is read again is what was read, and perhaps checked, before."""
        name = f"<{ast.unparse(node)}>"
        if self._state.frame.env is None:
            return value
        return self._state.frame.env.setdefault(name, value)

    def _method_of(self, holder: Value, function: ast.Attribute) -> Value:
        if isinstance(holder, Ref):
            return self._expressions.attribute(holder, function.attr, function.lineno)
        if isinstance(holder, Object | Class) and (not isinstance(holder, Object) or holder.made_by):
            return self._expressions.attribute(holder, function.attr, function.lineno)
        return UNKNOWN

    def _arguments(self, node: ast.Call) -> tuple[list[Value], list[ast.expr]]:
        values: list[Value] = []
        nodes: list[ast.expr] = []
        for each in node.args:
            value = self._expressions.value(each)
            spread = value if isinstance(each, ast.Starred) and isinstance(value, list) else [value]
            values += spread
            nodes += [each] * len(spread)
        return values, nodes

    def _sinks(self, call: Call, node: ast.Call, nodes: Sequence[ast.expr]) -> None:
        given = {each.arg or "**": each.value for each in node.keywords}
        for flow, sink in self._state.flows.sinks(call):
            for slot in sink.slots:
                if slot == "*":
                    for each, value in [
                        *zip(nodes, call.arguments, strict=True),
                        *((given[k], v) for k, v in call.keywords.items()),
                    ]:
                        self._state.reached(flow, content(value), each)
                elif slot == "@" and isinstance(node.func, ast.Attribute):
                    self._state.reached(
                        flow, content(self._state.seen.get(id(node.func.value), UNKNOWN)), node.func.value
                    )
                elif slot.isdigit() and int(slot) < len(nodes):
                    value = call.arguments[int(slot)]
                    if call.name.endswith("make_response") and isinstance(value, list) and value:
                        value = value[0]  # (body, status, headers)
                    self._state.reached(flow, content(value), nodes[int(slot)])
                elif slot in given:
                    self._state.reached(flow, content(call.keywords[slot]), given[slot])
        self._places.call_places(call, node, nodes)

    # --- what it gives ----------------------------------------------------------------------------------------------

    def _result(self, call: Call, node: ast.Call, callee: Value, holder: Value) -> Value:
        if isinstance(callee, Function):
            return self._run(callee, call.arguments, call.keywords)
        if isinstance(callee, Class):
            return self._instance(callee, call)
        every = [*call.arguments, *call.keywords.values()]
        if isinstance(callee, Ref):
            source_value = self._input(call, node.lineno)
            if source_value is not None:
                return source_value
        elif isinstance(node.func, ast.Attribute):
            source_value = (
                sources.of_call(call.name, None, node.lineno)
                if call.name.rpartition(".")[2].startswith(("recv", "get_"))
                else None
            )
            if source_value is not None:
                return source_value
            known_result = (
                operations.method(holder, node.func.attr, list(call.arguments)) if not call.keywords else NotImplemented
            )
            if known_result is not NotImplemented:
                return known_result
            self._changes(node.func, holder, every)
        if isinstance(callee, Text) and callee.origins:  # `request.json()`
            every.append(callee)
        return self._passed_on(call, holder, every)

    def _input(self, call: Call, line: int) -> Value | None:
        """What a function of another module brings in, or what is known of its result."""
        first = call.arguments[0] if call.arguments else None
        source_value: Value = sources.of_call(call.name, first, line)
        if source_value is not None:
            return source_value
        known_result = operations.builtin(call.name, call.arguments)
        if known_result is NotImplemented:
            known_result = operations.made(call.name, call.arguments, dict(call.keywords))
        if known_result is not NotImplemented:
            return known_result
        last = call.name.rpartition(".")[2]
        if call.name in {"re.compile", "regex.compile"} and isinstance(first, str):
            return Object("re.Pattern", {"pattern": first})
        requests = [each for each in call.arguments if isinstance(each, Ref) and sources.REQUEST.match(each.name)]
        if requests:
            web = Text(frozenset({("web", line)}))
            if last[:1].isupper() or "wrap" in last.lower():
                return Object("Wrapped", content=web)
            return web if sources.reads_request(last) else UNKNOWN
        tainted = any(content(each).origins for each in (*call.arguments, *call.keywords.values()))
        if not tainted and (last[:1].isupper() or last in {"make_parser", "create", "Builder"}):
            return Object(call.name, dict(call.keywords))
        return None

    def _instance(self, made: Class, call: Call) -> Value:
        instance = Object(made.node.name, made_by=made)
        start = made.find("__init__")
        if isinstance(start, Function):
            self._run(replace(start, bound=instance), call.arguments, call.keywords)
        else:
            fields = [
                each for each in made.node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
            ]
            instance.fields.update(
                (each.target.id, value)
                for each, value in zip(fields, call.arguments, strict=False)
                if isinstance(each.target, ast.Name)
            )
            instance.fields.update(call.keywords)
        return instance

    def _changes(self, function: ast.Attribute, holder: Value, values: Sequence[Value]) -> None:
        """What a method puts into its object."""
        tainted = combined(values)
        if isinstance(holder, Object) and holder.made_by is None and holder.name != "Wrapped":
            words = ", ".join(describe(each) for each in values[:1])
            if values and (len(values) > 1 or function.attr.startswith("set")):
                holder.fields[f"{function.attr}({words})"] = values[-1]
            return
        held = isinstance(holder, Text) and isinstance(function.value, ast.Name | ast.Attribute)
        if held and operations.adds(function.attr) and tainted.origins:
            self._expressions.bind(function.value, combined([holder, tainted]))

    def _passed_on(self, call: Call, holder: Value, values: list[Value]) -> Value:
        name = call.name
        last = name.rpartition(".")[2]
        if isinstance(holder, Object) and holder.name == "Wrapped":
            return holder.content if sources.reads_request(last) else UNKNOWN
        held = [] if isinstance(holder, Ref) or holder is None else [holder]
        text = combined([*held, *values])
        cast = call.keywords.get("type")
        if not text.origins:
            return self._plain(call)
        if _CASTS.search(name) or _CLEANS.search(name) or (_QUERIES.search(name) and not content(holder).origins):
            return UNKNOWN
        if isinstance(cast, Ref) and cast.name in _NUMBER_TYPES:
            return UNKNOWN
        start = (
            next((_start(each) for each in (*held, *values)), "")
            if last in {"join", "format", "Path", "str", "urljoin"}
            else text.start
        )
        result = replace(text, start=start, resolved=text.resolved)
        if _RESOLVING.search(name):
            result = replace(result, resolved=True)
        one = [each for each in (*held, *values) if isinstance(each, Text) and each.origins]
        if len(one) == 1 and (_SAME.match(name) or _RESOLVING.search(name) or _PARSING.search(name)):
            result = replace(result, whole=one[0], part="", resolved=result.resolved or one[0].resolved)
        elif len(one) == 1 and held and one[0] is held[0]:
            result = replace(result, whole=one[0], part="[]")
        if last == "replace" and values and isinstance(values[0], str):
            result = result.made_safe(self._state.flows.without(values[0]))
        return result.made_safe(self._state.flows.cleaned_by(name))

    def _plain(self, call: Call) -> Value:
        """A call that nothing from outside goes into; a path stays a text with a known beginning."""
        values = [each for each in call.arguments if isinstance(each, str)]
        if call.name.endswith(("os.path.join", "pathlib.Path")) and values and len(values) == len(call.arguments):
            return "/".join(values)
        return UNKNOWN


def _is_reading(node: ast.Call, holder: Value, value: Value) -> bool:
    """Whether a call reads a part of the request that constants name: `request.args.get("a")`."""
    if not isinstance(value, Text) or not value.origins or not isinstance(holder, Text) or holder.whole is not None:
        return False
    plain = all(isinstance(each, ast.Constant) for each in node.args)
    inner = node.func.value if isinstance(node.func, ast.Attribute) else None
    return plain and isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name | ast.Attribute)


def _called(callee: Value, holder: Value, function: ast.expr) -> str:
    """The full name of what is called, as far as known."""
    if isinstance(callee, Ref):
        return callee.name
    if isinstance(function, ast.Attribute):
        own = isinstance(function.value, ast.Name) and function.value.id == "self"
        named = isinstance(holder, Ref) or (isinstance(holder, Object) and not own)
        return f"{holder.name if named else _plain_name(function.value)}.{function.attr}"
    return _plain_name(function)


def _owner(holder: Value, function: ast.expr) -> str:
    """The object of a method in words: what it is, or else its name."""
    if not isinstance(function, ast.Attribute):
        return ""
    if isinstance(holder, Text) and holder.origins:
        return f"?input.{_plain_name(function.value)}"
    description = describe(holder)
    return _plain_name(function.value) if description == "?" else description


def _plain_name(node: ast.expr) -> str:
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    names.append(node.id if isinstance(node, ast.Name) else "?")
    return ".".join(reversed(names))


def _start(value: Value) -> str:
    return value if isinstance(value, str) else getattr(value, "start", "")


def tainted(values: Iterable[Value]) -> bool:
    """Whether any of the values comes from outside."""
    return any(content(each).origins for each in values if not known(each))
