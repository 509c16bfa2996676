"""Recognises taint sinks that are no calls of a named function, such as a returned page or a response header.

`<page>` what a handler returns, `<session>` what is kept in the session, `<secret>` what a name or keyword such as
`token` gets, `<shell>` a program that is started, and the text after a shell's `-c`, `<header>` and `<location>` a
response's headers.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from swarmgate.gates.sast.flows.values import UNKNOWN, Text, content

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from swarmgate.gates.sast.flows.rule import Call
    from swarmgate.gates.sast.flows.state import State
    from swarmgate.gates.sast.flows.values import Value

_SESSION = re.compile(r"(?i)(^|\.|_)\w*session\w*$")
_COOKIES = re.compile(r"(?i)(session|cookies?)\w*$")
_SECRET = re.compile(
    r"(?i)^(.*_)?(token|secret|password|passwd|passphrase|otp|nonce|salt|csrf|api_?key|session_?id|session_?key"
    r"|secret_?key|auth_?key|remember_?me\w*|reset_code|verification_code|pin_code)$"
)
_SHELL = re.compile(r"(?i)(^|[/\\])(ba|z|da|k|c)?sh$|cmd(\.exe)?$|powershell|pwsh|python\d?|perl|ruby|node$|env$")
_FLAG = re.compile(r"^(-l?i?c|/[cCkK]|-[Cc]ommand|-e)$")
_STARTS = re.compile(r"^(subprocess\.\w+|asyncio\.create_subprocess_exec|os\.(exec|spawn)\w+|pty\.spawn)$")
_HEADERS = re.compile(r"(?i)^(?!.*(request|session))(.*resp|.*\bself\b|.*\bres\b|r\.).*headers$")
_OTHER_HEADERS = re.compile(r"(?i)(location|access-control|hx-|x-request-id)")


class Places:
    """Checks values at such sinks."""

    def __init__(self, state: State) -> None:
        self._state = state

    def page(self, value: Value, node: ast.expr) -> None:
        """Check what a handler returns: a text, or the first of (text, status, headers)."""
        if isinstance(node, ast.Tuple) and isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, Text):
            for flow in self._state.flows.at("<page>"):
                self._state.reached(flow, value, node)

    def place(self, target: ast.expr, value: Value, node: ast.expr) -> None:
        """Check an assignment to a session, a header, or a name of a secret."""
        if isinstance(target, ast.Subscript):
            holder, key = ast.unparse(target.value), self._state.seen.get(id(target.slice), UNKNOWN)
            if _COOKIES.search(holder):
                self._at("<secret>", value, node)
            if _SESSION.search(holder):
                self._at("<session>", value, node)
                self._at("<session>", key, target.slice)
            if holder.endswith("headers") or isinstance(key, str):
                self._header(holder, key, value, node)
            if isinstance(key, str):
                self.named(key, value, node)
        elif isinstance(target, ast.Attribute):
            self.named(target.attr, value, node)
            if target.attr == "location":
                self._at("<location>", value, node)
        elif isinstance(target, ast.Name):
            self.named(target.id, value, node)

    def _header(self, holder: str, key: Value, value: Value, node: ast.expr) -> None:
        if isinstance(key, str) and key.lower() == "location":
            self._at("<location>", value, node)
        elif _HEADERS.search(holder) and not (isinstance(key, str) and _OTHER_HEADERS.search(key)):
            self._at("<header>", value, node)

    def named(self, name: str, value: Value, node: ast.expr) -> None:
        """Check a value that is stored under a name."""
        if _SECRET.match(name):
            self._at("<secret>", value, node)

    def _at(self, place: str, value: Value, node: ast.expr) -> None:
        for flow in self._state.flows.at(place):
            self._state.reached(flow, content(value), node)

    def call_places(self, call: Call, node: ast.Call, nodes: Sequence[ast.expr]) -> None:
        """Check arguments that are sinks by content: a shell's `-c`, a secret's name as a keyword."""
        for keyword in node.keywords:
            if keyword.arg and call.name != "dict":
                self.named(keyword.arg, call.keywords[keyword.arg], keyword.value)
        if call.name.endswith(("set_cookie", "set_signed_cookie")) and len(nodes) > 1:
            self._at("<secret>", call.arguments[1], nodes[1])
        if _STARTS.match(call.name):
            for values, where in _command_lines(call, node, nodes):
                self._shell(values, where)

    def _shell(self, values: Sequence[Value], nodes: Sequence[ast.expr]) -> None:
        """A list of arguments: the program itself, and what follows a shell's `-c`, are run."""
        flags = [n for n, value in enumerate(values) if isinstance(value, str) and _FLAG.match(value)]
        shell = bool(values) and (not isinstance(values[0], str) or _SHELL.search(values[0]) is not None)
        after = [flags[0] + 1] if flags and shell else []
        for position in [0, *after]:
            if position < len(values):
                self._at("<shell>", values[position], nodes[position])


def _command_lines(
    call: Call, node: ast.Call, nodes: Sequence[ast.expr]
) -> Iterator[tuple[Sequence[Value], Sequence[ast.expr]]]:
    given = next((each.value for each in node.keywords if each.arg == "args"), nodes[0] if nodes else None)
    first = call.keywords.get("args", call.arguments[0] if call.arguments else None)
    if given is not None and isinstance(first, list):
        literal = isinstance(given, ast.List | ast.Tuple) and len(given.elts) == len(first)
        yield first, given.elts if isinstance(given, ast.List | ast.Tuple) and literal else [given] * len(first)
    spawns = call.name.startswith("os.spawn")
    if call.name.startswith(("os.", "asyncio.")):
        values, where = list(call.arguments[spawns:]), list(nodes[spawns:])
        if len(values) == 2 and isinstance(values[1], list):  # noqa: PLR2004 - program and its arguments
            yield [values[0], *values[1][1:]], [where[0], *[where[1]] * (len(values[1]) - 1)]
        else:
            yield values, where
