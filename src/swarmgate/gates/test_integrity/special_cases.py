"""Finds product code that is written for one test: a special case for the value that a test passes.

The value stands in a condition, as a digest of itself, or among the keys of a table (`answer_tables`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.gates.project.files import language_of
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.grammar_nodes import child, line, name, named, text
from swarmgate.gates.test_integrity import answer_tables
from swarmgate.gates.test_integrity.change import holds_tests
from swarmgate.gates.test_integrity.suites.model import Rule, Weakening
from swarmgate.gates.test_integrity.suites.parsing import LANGUAGES, read
from swarmgate.gates.test_integrity.suites.tokens import (
    Tokens,
    bare,
    calls,
    is_literal,
    is_number,
    is_text,
    split,
    tokens,
)
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from swarmgate.gates.test_integrity.change import Change, File
    from swarmgate.gates.test_integrity.suites.model import Suite

_FUNCTIONS = frozenset({
    "function_definition", "function_declaration", "method_definition", "method_declaration", "function_item",
    "arrow_function", "function_expression",
})  # fmt: skip
_BRANCHES = frozenset({"if_statement", "if_expression", "elif_clause", "conditional_expression", "ternary_expression"})
_FEW = 2
_DIGEST = re.compile(r"hash|crc32|adler32|md5|sha\d\w*|blake2\w|(?:hex)?digest")
"""What turns a value into a number or text that does not show it."""


class Branch(NamedTuple):
    """A new branch of a function that returns a certain value for certain inputs.

    `compared` is empty where only a digest of the input is compared.
    """

    path: str
    line: int
    function: str
    compared: tuple[Tokens, ...]
    given: Tokens


def found(change: Change) -> Iterator[Weakening]:
    """The new branches of changed functions that serve one test only."""
    changed = [file for file in change.product if file.new != file.old]
    branches = [each for file in changed for each in _of_file(file)]
    tables = [each for file in changed for each in answer_tables.of_file(file)]
    if not branches and not tables:
        return
    suites = _suites(change, {each.function for each in branches} | {each.function for each in tables})
    for table in tables:
        tests = [_answered(Branch(table.path, table.line, table.function, *row), suites) for row in table.rows]
        if all(tests):
            message = f"`{table.function}` looks up what `{tests[0]}` expects, and computes it otherwise"
            yield Weakening(Rule.SPECIAL, table.path, table.line, "", message)
    for each in branches:
        if test := _answered(each, suites):
            message = (
                f"`{each.function}` knows its test: for {_text(each)} it gives what `{test}` expects, "
                "and computes it otherwise"
            )
            yield Weakening(Rule.SPECIAL, each.path, each.line, "", message)


def _of_file(file: File) -> Iterator[Branch]:
    language = language_of(file.path)
    known = set(file.old.split(b"\n"))
    if language not in LANGUAGES or not any(b"==" in each and each not in known for each in file.new.split(b"\n")):
        return
    try:
        tree = grammar_tree.parse(file.new, grammars.grammar_of(file.path, language))
    except grammars.TooSlow:
        return
    old = file.old.decode("utf-8", "replace")
    for node in grammars.walk(tree.root_node):
        if node.type in _FUNCTIONS and text(node) not in old:
            yield from _of_function(file, node, language, old)


def _of_function(file: File, function: Node, language: str, old: str) -> Iterator[Branch]:
    title = name(function) or (name(function.parent) if function.parent is not None else "")
    given = child(function, "parameters") or child(function, "parameter")
    parameters = set(tokens(text(given), language))
    body = child(function, "body")
    if not title or body is None or not parameters:
        return
    constant, computed = [], 0
    for node in grammars.walk(body):
        if node.type in _BRANCHES and (branch := _branch(file, node, title, parameters, language)):
            constant.append((branch, text(node)))
        elif node.type in {"return_statement", "return_expression"} and not is_literal(_returned(node, language)):
            computed += 1
    computed += (
        language == "rust"
        and bool(body.named_children)
        and not is_literal(tokens(text(body.named_children[-1]), language))
    )
    if computed and len(constant) <= _FEW:
        yield from (branch for branch, value in constant if value not in old)


def _branch(file: File, node: Node, title: str, parameters: set[str], language: str) -> Branch | None:
    """A branch whose condition compares what the function gets with certain values, and that returns a value."""
    if node.type in {"conditional_expression", "ternary_expression"}:
        parts = [each for each in node.named_children if "comment" not in each.type]
        if len(parts) != 3:  # noqa: PLR2004 - a value, a condition, another value
            return None
        condition, then = (parts[1], parts[0]) if language == "python" else (parts[0], parts[1])
        given = bare(tokens(text(then), language))
    else:
        wanted, branch = child(node, "condition"), child(node, "consequence")
        if wanted is None or branch is None:
            return None
        condition, then = wanted, branch
        statements = [each for part in named(then, "statement_list") or [then] for each in named(part)]
        statements = [each for each in statements if "comment" not in each.type]
        if then.type not in {"block", "statement_block"}:
            statements = [then]
        if len(statements) != 1:
            return None
        inner = statements[0]
        given = _returned(inner, language)
    asked = bare(tokens(text(condition), language))
    compared = _compared(asked, parameters)
    if not (compared or _digested(asked, parameters)) or not given or not is_literal(given):
        return None
    return Branch(file.path, line(node), title, compared, given)


def _returned(node: Node, language: str) -> Tokens:
    found = tokens(text(node), language)
    return bare(found[1:]) if found[:1] == ("return",) else (found if language == "rust" else ())


def _compared(condition: Tokens, parameters: set[str]) -> tuple[Tokens, ...]:
    """The values that a condition compares parameters with; none where it asks for anything else."""
    values = []
    for part in split(condition, "and", "&&"):
        sides = split(bare(part), "==", "===")
        if len(sides) != 2:  # noqa: PLR2004 - the two sides
            return ()
        if any(_measures(each, parameters) for each in sides):
            continue
        left, right = sides if sides[0] and sides[0][0] in parameters else sides[::-1]
        if not left or left[0] not in parameters or not is_literal(right):
            return ()
        values.append(right)
    return tuple(values) if any(map(_telling, values)) else ()


def _digested(condition: Tokens, parameters: set[str]) -> bool:
    """Whether a digest of what the function gets is compared with a certain one."""
    sides = split(condition, "==", "===")
    if len(sides) != 2:  # noqa: PLR2004 - the two sides
        return False
    literal, other = sides if is_literal(sides[0]) else sides[::-1]
    made = any(_DIGEST.fullmatch(each) for each in other)
    return bool(literal) and is_literal(literal) and made and not parameters.isdisjoint(other)


def _measures(side: Tokens, parameters: set[str]) -> bool:
    """Whether this is how many there are of something that the function gets."""
    counted = side[:2] == ("len", "(") or not {"length", "size"}.isdisjoint(side[1:])
    return counted and not parameters.isdisjoint(side)


def _telling(value: Tokens) -> bool:
    """Whether a value is none that code has reason to treat by itself: zero, one, nothing, a letter."""
    if len(value) > 1:
        return any(is_number(each) or is_text(each) for each in value) and value != ("-", "1")
    token = value[0]
    if is_number(token):
        return token.strip("0.") not in {"", "1"}
    return is_text(token) and len(token) > 3  # noqa: PLR2004 - its quotes, and a letter


def _suites(change: Change, functions: set[str]) -> list[Suite]:
    """The tests that name one of these functions, as they were and as they are."""
    paths = change.project.head.mentioning(sorted(functions), sorted(LANGUAGES), change.project.stopped)
    changed = {suite.path for suite in change.new}
    suites = [*change.old, *change.new]
    for path, content in paths.items():
        if holds_tests(path) and path not in changed:
            try:
                suites.append(read(path, language_of(path), content))
            except (grammars.TooSlow, RecursionError):
                change.unread.append(path)
    return suites


def _answered(branch: Branch, suites: list[Suite]) -> str:
    """The test that passes the branch's values and expects what it gives; empty for none."""
    for suite in suites:
        for case in suite.cases.values():
            if branch.function not in case.text:
                continue
            texts = [each.subject + each.expected + each.text for each in case.assertions]
            direct = (each for each in texts if any(_passes(branch, each)) and _holds(each, branch.given))
            rows = (
                row
                for row in case.rows
                if all(_holds(row, each) for each in branch.compared) and _holds(row, branch.given)
            )
            if next(direct, None) or next(rows, None):
                return case.short
    return ""


def _passes(branch: Branch, found: Tokens) -> Iterator[bool]:
    for called, arguments in calls(found):
        if called == branch.function and all(_holds(arguments, each) for each in branch.compared):
            yield True


def _holds(found: Tokens, part: Tokens) -> bool:
    return any(found[n : n + len(part)] == part for n in range(len(found) - len(part) + 1))


def _text(branch: Branch) -> str:
    return " and ".join(f"`{' '.join(each)[:40]}`" for each in branch.compared) or "an input with a certain digest"
