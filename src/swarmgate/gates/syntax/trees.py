"""Checks the syntax of other languages with tree-sitter grammars, confirmed by the brackets where needed.

Grammars lag behind their languages: on valid code of well-kept repositories some fail on one file in four
(docs/gates/syntax_check.md has the numbers). Where that is so, `lexers` knows the language, and only what both the
grammar and the count of the brackets reject is an error. The other grammars are trusted alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.gates.source import grammar_tree
from swarmgate.gates.syntax import brackets, lexers, preprocessor, shell
from swarmgate.gates.syntax.problem import Problem, problem_at
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Tree

TRUSTED = frozenset({
    "bash", "elixir", "erlang", "go", "java", "javascript", "lua", "php", "r", "ruby", "rust", "terraform",
    "typescript",
})  # fmt: skip
"""Languages whose grammar is judge alone."""

OFF = {"perl": "perl: its grammar flags too much valid code and is slow"}
"""Languages that are not looked at by default, and why."""

_BRACKETS = frozenset(b"()[]{}")
_AGAIN = {"javascript": ("tsx", "typescript"), "typescript": ("tsx",), "tsx": ("typescript",)}
_MOST = 3
_LONGEST = 3
_FLOW = re.compile(rb"\A[\s\S]{0,2000}?@flow\b")


def languages() -> frozenset[str]:
    """Every language that is looked at here."""
    return TRUSTED | lexers.languages() | OFF.keys()


def check(language: str, path: str, content: bytes) -> list[Problem] | str:
    """What is wrong with a file; a word where it cannot be told.

    Raises:
        TooSlow: the grammar did not end in time.
    """
    if lexers.known(language):
        return _both(language, path, content)
    grammar = grammars.grammar_of(path, language)
    return by_grammar(grammar, content)


def by_grammar(grammar: str, content: bytes) -> list[Problem] | str:
    """What the grammar alone says.

    Raises:
        TooSlow: the grammar did not end in time.
    """
    tree = grammar_tree.parse(content, grammar)
    if not tree.root_node.has_error:
        return _shell(content, tree) if grammar == "bash" else []
    for other in _AGAIN.get(grammar, ()):
        if not grammar_tree.parse(content, other).root_node.has_error:
            return []
    if grammar == "javascript" and _FLOW.match(content):
        return "javascript with Flow types"
    return _errors(content, tree)


def _shell(content: bytes, tree: Tree) -> list[Problem]:
    lost = shell.lost(content, content, 0)
    return [problem_at(content, *each) for each in ((lost,) if lost else shell.tests(tree, content))][:_MOST]


def _both(language: str, path: str, content: bytes) -> list[Problem]:
    found = preprocessor.unbalanced(language, content) if lexers.preprocessed(language) else None
    if not lexers.preprocessed(language):
        found = brackets.unbalanced(content, lexers.marks(language, content))
    if found and language == "sql" and not brackets.unbalanced(content, lexers.marks(lexers.MYSQL, content)):
        return []  # MySQL's escapes
    grammar = grammars.grammar_of(path, language)
    if found is None:
        return _cut_off(grammar, content) if grammar else []
    if grammar and not grammar_tree.parse(content, grammar).root_node.has_error:
        return []
    return [found]


def _cut_off(grammar: str, content: bytes) -> list[Problem]:
    """A last line that does not end and alone makes the grammar fail: the file was cut within it."""
    last = content.rfind(b"\n") + 1
    if not content[last:].strip() or not last:
        return []
    if not grammar_tree.parse(content, grammar).root_node.has_error:
        return []
    if grammar_tree.parse(content[:last], grammar).root_node.has_error:
        return []
    return [problem_at(content, len(content), "the file ends in the middle of a line that is not complete")]


def leaves(tree: Tree, content: bytes) -> Iterator[lexers.Mark]:
    """The brackets of a tree, those of `${` and `[[` too; in strings and comments they are no leaves of their own."""
    for node in grammars.walk(tree.root_node):
        start, end = node.start_byte, node.end_byte
        if 0 < end - start <= _LONGEST and not node.is_named and not node.child_count:
            for offset in range(start, end):
                if content[offset] in _BRACKETS:
                    yield lexers.Mark(offset, content[offset : offset + 1])


def _errors(content: bytes, tree: Tree) -> list[Problem]:
    by_count = brackets.unbalanced(content, leaves(tree, content))
    if by_count:
        return [by_count]
    problems: dict[int, Problem] = {}
    for node in _outermost(tree.root_node):
        message = _words(content, node)
        problems.setdefault(message.line, message)
        if len(problems) == _MOST:
            break
    return list(problems.values())


def _outermost(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_missing or (node.is_error and node.parent is not None):
            yield node
        elif node.has_error:
            stack.extend(reversed(node.children))


def _words(content: bytes, node: Node) -> Problem:
    if node.is_missing:
        what = (
            f"`{node.type}`"
            if not node.is_named
            else f"{'an' if node.type[0] in 'aeiou' else 'a'} {node.type.replace('_', ' ')}"
        )
        return problem_at(content, node.start_byte, f"{what} is missing")
    inner = node
    while deeper := next((child for child in inner.children if child.is_error or child.is_missing), None):
        inner = deeper
    if inner.is_missing:
        return _words(content, inner)
    text = content[inner.start_byte : inner.end_byte].split(None, 1)
    word = text[0][:30].decode("utf-8", "replace") if text else ""
    if not word:
        return problem_at(content, inner.start_byte, "something is missing")
    long = inner.end_point[0] > inner.start_point[0]
    message = f"what begins with `{word}` does not end as it should" if long else f"unexpected `{word}`"
    return problem_at(content, inner.start_byte, message)
