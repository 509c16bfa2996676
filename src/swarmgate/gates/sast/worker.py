"""Scans Python files in a separate process: bandit's tests, taint analysis, syntax tree checks.

Standard input is one JSON object: `flows` (rule and flow, as in the rule files) and `files`, of each its place, and
whether flows are followed. Standard output is lines of JSON: the place of each file when it is
begun, and then what was found in it. A file of which nothing follows was too much for this process.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.gates.sast import bandit_engine, older_syntax, shell_commands
from swarmgate.gates.sast.flows import rule as flows
from swarmgate.gates.sast.flows import sources
from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_RUNNING = re.compile(rb"eval|exec|shell|system|popen|statusoutput|getoutput")
"""Words without which no call runs a command or code."""

_REQUESTS = {"request", "req", "http_request", "flask_request"}


def scan(place: str, content: bytes, known: flows.Flows, *, followed: bool) -> dict[str, Any]:
    """Scan one file; files without any relevant word are skipped.

    Args:
        place: where it stands.
        content: what stands there.
        known: the flows that our rules speak of.
        followed: whether flows are followed.
    """
    bandit = bandit_engine.adds(content)
    words = content.decode(errors="replace")
    concerned = known.concerning(words) if followed else flows.Flows(())
    if not (bandit or concerned.all or sources.present("web", words)):
        return {}
    try:
        tree, text = older_syntax.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"unparsed": older_syntax.why(error)}
    open_calls = list(shell_commands.open_calls(tree)) if _RUNNING.search(text) else []
    reply: dict[str, Any] = {"handlers": list(_handlers(tree)), "open": open_calls}
    reply["harmless"] = list(shell_commands.harmless_calls(tree)) if b"BaseLoader" in text or b"debug" in text else []
    if followed:
        reply["flows"], reply["whole"] = _followed(tree, concerned)
    if bandit:
        # After the flows: bandit hangs its own tree on what ast shares between trees.
        issues, reply["why"] = bandit_engine.issues(place, text, tree)
        reply["issues"] = [_plain(each) for each in issues]
    return reply


def _followed(tree: ast.Module, concerned: flows.Flows) -> tuple[list[Any], bool]:
    """The flows through a file, and whether all of it was followed."""
    from swarmgate.gates.sast.flows.interpreter import Interpreter  # noqa: PLC0415 - late: few files need it

    if not concerned.all:
        return [], True
    interpreter, whole = Interpreter(concerned), True
    try:
        interpreter.file(tree)
    except Exception:  # noqa: BLE001 - too many steps, too deep, or a bug: told, and no other file suffers
        whole = False
    return [
        (each.rule, each.line, each.column, each.end_line, each.end_column, sorted(origins))
        for each, origins in interpreter.found.items()
    ], whole


def _handlers(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """The lines of the functions that answer a request."""
    functions, asking = [], []
    for node in python_tree.walk(tree):
        if isinstance(node, _Function):
            functions.append(node)
        elif isinstance(node, ast.Attribute) and _is_request(node.value):
            asking.append(node.lineno)
    for function in functions:
        first = min((function.lineno, *(each.lineno for each in function.decorator_list)))
        last = function.end_lineno or function.lineno
        if sources.has_route(function) or any(first <= line <= last for line in asking):
            yield function.lineno, last


def _is_request(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in _REQUESTS and sources.REQUEST.search(ast.unparse(node)) is not None


def _plain(issue: Any) -> tuple[Any, ...]:
    """One of bandit's issues: test, line, column, last line and column, text, CWE (0 where it has none)."""
    last, number = max(issue.linerange or [issue.lineno]), issue.cwe.id if issue.cwe else 0
    return issue.test_id, issue.lineno, issue.col_offset + 1, last, issue.end_col_offset + 1, issue.text, number


def _say(reply: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Scan all files that the request on standard input names."""
    request = json.load(sys.stdin)
    known = flows.Flows(flows.read(rule, reply) for rule, reply in request["flows"])
    for place, followed in request["files"]:
        _say({"begun": place})
        reply = scan(place, Path(place).read_bytes(), known, followed=followed)
        _say({"place": place, **reply})


if __name__ == "__main__":
    main()
