"""Parses a test file of any of five languages into a suite of cases."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.grammar_nodes import child, line, name, named, text
from swarmgate.gates.test_integrity.suites import ecmascript
from swarmgate.gates.test_integrity.suites.assertions import assertions
from swarmgate.gates.test_integrity.suites.model import Case, Suite
from swarmgate.gates.test_integrity.suites.skips import Switch, of_generator, of_go_file, of_head, of_statements
from swarmgate.gates.test_integrity.suites.tables import rows, shared_rows
from swarmgate.gates.test_integrity.suites.tokens import tokens
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

LANGUAGES = frozenset({"python", "javascript", "typescript", "go", "rust", "java"})

_PYTHON_CLASS = re.compile(r"^Test|Tests?$|TestCase")
_GO = re.compile(r"^(?:Test|Fuzz|Example)(?![a-z])")
_RUST = re.compile(r"(?:^|::)(?:test|rstest|test_case|quickcheck|proptest|wasm_bindgen_test)(?:\(|$)")
_JAVA = frozenset({"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate"})
_FUNCTIONS = {
    "python": "function_definition", "rust": "function_item", "java": "method_declaration",
}  # fmt: skip


def read(path: str, language: str, content: bytes) -> Suite:
    """Parse the tests of a file.

    Raises:
        TooSlow: the grammar did not end in time.
        RecursionError: the code is nested too deeply.
    """
    tree = grammar_tree.parse(content, grammars.grammar_of(path, language))
    suite = Suite(path, language, {})
    if language in {"javascript", "typescript"}:
        suite.only = tuple(ecmascript.focused(tree.root_node)) if ecmascript.MAY_FOCUS.search(content) else ()
        found = ecmascript.cases(tree.root_node)
    else:
        found = _functions(tree.root_node, language)
    undone = {"".join(match.groups("")): match[0] for match in _UNDONE.finditer(content.decode("utf-8", "replace"))}
    for each in found:
        _enter(suite, each, undone)
    return suite


_UNDONE = re.compile(r"^(?:(\w+)\.__test__ = False|del (\w+)|(test\w*) = (?!pytest))", re.MULTILINE)
"""Statements of a module of Python after which a name is no test."""


def _enter(suite: Suite, each: ecmascript.Found, undone: Mapping[str, str]) -> None:
    language, body = suite.language, each.body
    title, number = each.name, 1
    while title in suite.cases:
        number += 1
        title = f"{each.name} #{number}"
    off = each.switch.off or (undone.get(title, "") if language == "python" else "")
    case = Case(
        path=suite.path, name=title, line=line(each.node), text=tokens(text(body), language),
        shell=tokens(each.head, language), off=off, guarded=each.switch.guarded, helper=each.helper,
        shared_rows=each.shared_rows,
        read=lambda: tuple(assertions(body, language)) if body is not None else (),
        read_rows=lambda: tuple(rows(each.node, language)),
    )  # fmt: skip
    if not (case.helper and not case.assertions):
        suite.cases[title] = case


def _functions(root: Node, language: str) -> Iterator[ecmascript.Found]:
    """The tests and asserting helpers that are functions, each with what its surroundings switch off."""
    whole = of_go_file(text(root)) if language == "go" else Switch()
    if language == "python":
        whole = of_statements(root, language)
    for scope, above, outer in _scopes(root, "", whole):
        last = _last(scope) if language == "python" else {}
        shared = shared_rows(scope) if language == "java" else 0
        for node in _in(scope):
            function, head = _headed(node, language)
            if function is not None and (body := child(function, "body")) is not None:
                switch = outer.over(of_head(head, language)).over(of_statements(body, language))
                title = f"{above}{name(function)}"
                helper = not _is_test(function, head, above, language)
                if language == "python" and not helper:
                    switch = switch.over(of_generator(body, head))
                if last.get(name(function), function.start_byte) > function.start_byte:
                    switch = switch.over(Switch("another test of this name takes its place"))
                if (
                    helper
                    and above
                    and language == "python"
                    and not name(function).startswith(("_", "assert", "check"))
                ):
                    helper = True
                yield ecmascript.Found(
                    node, title, body, f"{head} {text(child(function, 'parameters'))}", switch, helper, shared
                )


def _last(scope: Node) -> dict[str, int]:
    """Where each function of a scope of Python is defined last: only that one is run."""
    inner = (
        child(each, "definition") if each.type == "decorated_definition" else each for each in scope.named_children
    )
    return {name(each): each.start_byte for each in inner if each is not None and each.type == "function_definition"}


def _in(scope: Node) -> Iterator[Node]:
    for each in scope.named_children:
        if each.type in {"statement_list", "declaration_list", "class_body", "block"}:
            yield from _in(each)
        else:
            yield each


def _scopes(root: Node, above: str, outer: Switch) -> Iterator[tuple[Node, str, Switch]]:
    """Where tests may stand: the file, its classes and modules."""
    yield root, above, outer
    for each in _in(root):
        inner = child(each, "definition") if each.type == "decorated_definition" else each
        if each.type == "if_statement":
            yield from _on_condition(each, above, outer)
        if inner is None or inner.type not in {"class_definition", "class_declaration", "mod_item"}:
            continue
        body = child(inner, "body")
        if body is not None:
            language = {"class_definition": "python", "class_declaration": "java", "mod_item": "rust"}[inner.type]
            head = _head(each, inner, language)
            switch = outer.over(of_head(head, language))
            if language == "python":
                switch = switch.over(of_statements(body, language))
            yield from _scopes(body, f"{above}{name(inner)}.", switch)


def _on_condition(node: Node, above: str, outer: Switch) -> Iterator[tuple[Node, str, Switch]]:
    """The tests that a module or class of Python defines on a condition."""
    condition = text(child(node, "condition"))
    guard = f"if {condition[:60]}"
    switch = Switch(guard) if condition in {"False", "0", "None", "not True"} else Switch("", guard)
    then = child(node, "consequence")
    if then is not None:
        yield from _scopes(then, above, outer.over(switch))
    for each in named(node, "else_clause"):
        if (body := child(each, "body")) is not None:
            yield from _scopes(body, above, outer.over(Switch("", guard)))


def _headed(node: Node, language: str) -> tuple[Node | None, str]:
    inner = child(node, "definition") if node.type == "decorated_definition" else node
    if inner is None:
        return None, ""
    wanted = {"function_declaration", "method_declaration"} if language == "go" else {_FUNCTIONS[language]}
    return (inner, _head(node, inner, language)) if inner.type in wanted else (None, "")


def _head(node: Node, inner: Node, language: str) -> str:
    """Decorators, annotations, attributes."""
    if language == "python":
        return "\n".join(text(each) for each in named(node, "decorator")) if node is not inner else ""
    if language == "java":
        return "\n".join(text(each) for part in named(inner, "modifiers") for each in part.children)
    found, before = [], node.prev_named_sibling
    while (
        language == "rust" and before is not None and before.type in {"attribute_item", "line_comment", "block_comment"}
    ):
        found.append(text(before) if before.type == "attribute_item" else "")
        before = before.prev_named_sibling
    return "\n".join(reversed(found))


def _is_test(function: Node, head: str, above: str, language: str) -> bool:
    title = name(function)
    if language == "python":
        if re.search(r"@(?:\w+\.)*fixture\b", head):
            return False
        owner = above.rstrip(".").rpartition(".")[2]
        return title.startswith("test") and (not owner or bool(_PYTHON_CLASS.search(owner)) or _is_unittest(function))
    if language == "go":
        return bool(_GO.match(title))
    if language == "rust":
        return any(_RUST.search(each) for each in re.findall(r"#\[\s*([\w:]+\(?)", head))
    annotations = set(re.findall(r"@(?:\w+\.)*(\w+)", head))
    return bool(annotations & _JAVA) or (title.startswith("test") and "@" not in head.replace("@Override", ""))


def _is_unittest(function: Node) -> bool:
    owner = function.parent
    while owner is not None and owner.type != "class_definition":
        owner = owner.parent
    return bool(owner is not None and re.search(r"Test|Case", text(child(owner, "superclasses"))))
