"""Python files by our own interpreter: the flows of outside input into sinks, and which matches of others need one.

bandit and ruff match how code is written. Inside a function that handles a request the interpreter knows more: what it
does not follow to such a line is left out there.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.domain.finding import Severity
from swarmgate.gates.sast import rewriting, sources
from swarmgate.gates.sast.flows import Flows
from swarmgate.gates.sast.hit import Hit, Scanned
from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from swarmgate.gates.sast.rules import Rule
    from swarmgate.gates.sast.state import Found
    from swarmgate.gates.sast.values import Origins
    from swarmgate.gates.source.file import SourceFile

_INJECTIONS = "20 22 74 77 78 79 88 89 90 91 94 95 113 117 134 470 501 502 601 611 643 918 943 1333 1336"
INJECTIONS = frozenset(f"CWE-{number}" for number in _INJECTIONS.split())
"""Weaknesses that need outside input: of a value that is none, there is nothing to say."""

_NO_FLOW = {"B201", "B701", "B702"}
"""bandit's tests that carry the CWE of an injection and are not about a value."""

_MATCHES = {"swarmgate.python.yaml-load-without-safe-loader", "swarmgate.python.xml-parser-resolves-entities"}
"""Rules of ours that match how code is written, too."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Parsed:
    """A Python file that this interpreter reads: `text` is its content, or that in words of an older syntax."""

    source: SourceFile
    tree: ast.Module
    text: bytes


def parse(
    python: Iterable[SourceFile], stopped: Callable[[], bool] = lambda: False
) -> tuple[dict[str, Parsed], dict[str, str]]:
    """The files that parse, and why the others do not, by path; those until it is to stop."""
    parsed: dict[str, Parsed] = {}
    unread: dict[str, str] = {}
    for source in python:
        if stopped():
            break
        try:
            parsed[source.path] = Parsed(source, *rewriting.parse(source.content))
        except SyntaxError as error:
            unread[source.path] = f"line {error.lineno or 1}: {error.msg}"
        except (ValueError, RecursionError, MemoryError) as error:
            unread[source.path] = str(error) or "nested too deeply"
    return parsed, unread


def scan(files: Mapping[str, Parsed], rules: Iterable[Rule], stopped: Callable[[], bool]) -> Scanned:
    """Every flow rule over the files."""
    by_id = {rule.id: rule for rule in rules if rule.flow}
    every = [rule.flow for rule in by_id.values() if rule.flow]
    scanned = Scanned(rules=frozenset(by_id))
    engines: dict[tuple[str, ...], Flows] = {}
    for path, parsed in files.items():
        if stopped():
            break
        text = parsed.text.decode(errors="replace")
        wanted = [flow for flow in every if flow.concerns(text)]
        if not wanted:
            continue
        names = tuple(flow.rule for flow in wanted)
        found, whole = _followed(parsed.tree, engines.setdefault(names, Flows(wanted)))
        if not whole:
            scanned.notes.append(f"flows through {path} were followed only in part")
        scanned.hits += [_hit(path, by_id[each.rule], each, origins) for each, origins in found.items()]
    return scanned


def _followed(tree: ast.Module, flows: Flows) -> tuple[dict[Found, Origins], bool]:
    from swarmgate.gates.sast.interpreter import Interpreter  # noqa: PLC0415 - late: few files need it

    interpreter = Interpreter(flows)
    try:
        interpreter.file(tree)
    except Exception:  # noqa: BLE001 - too many steps, too deep, or a bug: told, and no other file suffers
        return interpreter.found, False
    return interpreter.found, True


def _hit(path: str, rule: Rule, found: Found, origins: Origins) -> Hit:
    # Who starts a program with these arguments could as well do the harm without it.
    own = all(kind == "argv" for kind, _ in origins)
    lines = ", ".join(str(line) for line in sorted({line for _, line in origins})[:3])
    what, stop, fix = rule.message.partition(". ")
    return Hit(
        path=path,
        line=found.line,
        column=found.column,
        end_line=found.end_line,
        end_column=found.end_column,
        tool="swarmgate",
        code=rule.id,
        cwe=rule.cwe,
        severity=Severity.LOW if own else rule.severity,
        message=f"{what} (it comes from line {lines}){stop}{fix}",
    )


def plausible(parsed: Parsed, hits: Sequence[Hit]) -> list[Hit]:
    """The hits that may be, of one file."""
    lines = {hit.line for hit in hits if _is_ours(hit)}
    doubtful = [hit for hit in hits if not _is_ours(hit) and _needs_a_flow(hit) and hit.line not in lines]
    if not doubtful:
        return list(hits)
    functions = [node for node in python_tree.walk(parsed.tree) if isinstance(node, _Function)]
    handlers = [node for node in functions if _handles_a_request(node)]
    dropped = {hit for hit in doubtful if any(node.lineno <= hit.line <= (node.end_lineno or 0) for node in handlers)}
    return [hit for hit in hits if hit not in dropped]


def _is_ours(hit: Hit) -> bool:
    return hit.tool == "swarmgate" and hit.code not in _MATCHES


def _needs_a_flow(hit: Hit) -> bool:
    return hit.cwe in INJECTIONS and "B" + hit.code[1:] not in _NO_FLOW


def _handles_a_request(function: _Function) -> bool:
    if sources.has_route(function):
        return True
    attributes = (node for node in python_tree.walk(function) if isinstance(node, ast.Attribute))
    return any(sources.REQUEST.search(ast.unparse(node.value)) for node in attributes)
