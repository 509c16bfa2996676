"""Finds stub comments and functions without an implementation in all languages but Python, with tree-sitter."""

from __future__ import annotations

import functools
import re
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from swarmgate.gates.placeholders import tree_shapes, wording
from swarmgate.gates.placeholders.function_bodies import Function, Step
from swarmgate.gates.placeholders.statements import steps_of
from swarmgate.gates.source import grammar_tree
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node, Query, Tree

_SCRIPT = "function_declaration generator_function_declaration method_definition arrow_function function_expression"
_FUNCTIONS = {
    "bash": "function_definition", "c": "function_definition", "cpp": "function_definition",
    "csharp": "method_declaration local_function_statement accessor_declaration", "dart": "function_body",
    "go": "function_declaration method_declaration func_literal", "java": "method_declaration",
    "javascript": _SCRIPT, "kotlin": "function_declaration", "lua": "function_declaration function_definition",
    "php": "function_definition method_declaration", "ruby": "method singleton_method", "rust": "function_item",
    "scala": "function_definition", "swift": "function_declaration", "tsx": _SCRIPT, "typescript": _SCRIPT,
}  # fmt: skip
_COMMENTS = (
    "comment", "line_comment", "block_comment", "multiline_comment", "documentation_comment", "html_comment",
    "marginalia", "js_comment", "groovy_doc",
)  # fmt: skip
_PLAIN = {
    "bash", "c", "cpp", "csharp", "css", "dart", "go", "groovy", "html", "java", "javascript", "kotlin", "lua", "php",
    "ruby", "rust", "scala", "scss", "sql", "svelte", "swift", "tsx", "typescript", "vue",
}  # fmt: skip
EMBEDDED = {"html", "svelte", "vue"}
_DECLARED = re.compile(
    r"trait_item|interface_declaration|protocol_declaration|interface_body|protocol_body|annotation_type_body"
)
_BODIES = {
    "block", "statement_block", "compound_statement", "function_body", "body_statement", "statement_list", "statements",
    "arrow_expression_clause", "indented_block",
}  # fmt: skip
_WRAPPERS = {"function_body", "statement_list", "statements", "arrow_expression_clause", "body_statement", "block"}
_VOID = re.compile(
    r"^[:\s]*(?:[\w.:]*(?:void|unit|none|never|any|undefined|null|nothing|dynamic|static|mixed|self)\b|\(\)|!|"
    r"(?:Promise|Future|FutureOr|Task|ValueTask|Mono|CompletableFuture)\s*(?:<\s*(?:void|Void"
    r"|undefined|dynamic|any|\?)\s*>)?$|$)",
    re.IGNORECASE,
)
_HOOK = re.compile(
    r"^(?:on[A-Z_]|visit|before|after|pre|post|did|will|setUp|tearDown|set[uU]p|tear[dD]own|close"
    r"|dispose|flush|init|constructor|~)"
)
_BASE = re.compile(r"^(?:Unimplemented|Abstract|Base[A-Z])|Abstract$")
_TEST = re.compile(
    r"@(?:Parameterized|Repeated)?Test\b|#\[(?:\w+::)*test\b|\[(?:Fact|Theory|Test|TestMethod|TestCase)\b"
)
_TEST_CALL = {"it", "test", "specify"}
MAX_STEPS = 6
_MAX_BODY = 3000


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment: the line it begins on (from 1), its bytes' place in the file and its text with the marks."""

    line: int
    start: int
    end: int
    text: str


def reads(grammar: str) -> bool:
    """Whether comments of this grammar are known here."""
    return grammar in _PLAIN


def parse(grammar: str, content: bytes) -> Tree:
    """The tree of a file.

    Raises:
        TooSlow: the grammar did not end in time.
    """
    return grammar_tree.parse(content, grammar)


def comments(grammar: str, tree: Tree, content: bytes) -> list[Comment]:
    """Every comment, in the order of the source."""
    found = _captured(grammar, tree).get("comment", ())
    made = [Comment(node.start_point.row + 1, node.start_byte, node.end_byte, _cut(node, content)) for node in found]
    return sorted(made, key=lambda comment: comment.start)


def embedded(tree: Tree) -> Iterator[tuple[str, bytes, int]]:
    """The scripts and styles of a page: grammar, content, and how many lines stand before it."""
    for node in grammars.walk(tree.root_node):
        if node.type not in {"script_element", "style_element"}:
            continue
        opening = next((child for child in node.children if child.type == "start_tag"), None)
        raw = next((child for child in node.children if child.type == "raw_text"), None)
        if raw is None or raw.text is None:
            continue
        attributes = (opening.text or b"") if opening is not None else b""
        yield _embedded_grammar(node.type, attributes), raw.text, raw.start_point.row


def function_nodes(grammar: str, tree: Tree) -> list[Node]:
    """Every function that has a body or could have one."""
    return _captured(grammar, tree).get("function", [])


def functions(
    grammar: str, tree: Tree, content: bytes, remarks: Sequence[Comment], *, tests: bool
) -> Iterator[Function]:
    """Every function that does no work of its own."""
    for node in function_nodes(grammar, tree):
        body = body_of(node)
        if body is None or body.end_byte - body.start_byte > _MAX_BODY:
            continue
        statements = _statements(body)
        if len(statements) > MAX_STEPS:
            continue
        texts = [_text(item, content) for item in statements]
        shaped = grammar in tree_shapes.LANGUAGES
        steps = tree_shapes.steps_with_copies(texts, node) if shaped else steps_of(texts)
        if steps is None:
            continue
        # Ruby and Lua count what stands before the first statement to the function, not to its body.
        inside = [each for each in remarks if node.start_byte <= each.start < node.end_byte]
        made = _function(grammar, node, steps, inside, remarks, tests=tests)
        shape = tree_shapes.shape_of(node, grammar, content, texts, made) if shaped else None
        yield replace(made, shape=shape)


def _function(
    grammar: str,
    node: Node,
    steps: tuple[Step, ...],
    inside: Sequence[Comment],
    remarks: Sequence[Comment],
    *,
    tests: bool,
) -> Function:
    name = _name(node)
    holder = _holder(node)
    above = list(_above(holder, remarks))
    doc = "\n".join(
        comment.text for comment in above if comment.text.startswith(("/**", "///", "//!", "--[[", "=begin"))
    )
    plain = "\n".join(comment.text for comment in above if comment.text not in doc)
    test = tests and _is_test(node, holder, name)
    bare = not inside and Step.TALKS not in steps
    return Function(
        name=name or "<anonymous>",
        line=node.start_point.row + 1,
        steps=steps,
        comments=clean("\n".join(comment.text for comment in inside)),
        above=clean(plain),
        doc=clean(doc),
        promises=_promises(grammar, node, doc),
        excused=not test and _excused(node, name, prints=Step.SAYS_SO in steps, bare=bare),
        test=test,
        needs_word=True,
    )


def clean(text: str) -> str:
    """Comment text without the marks that open, close and decorate it."""
    text = re.sub(r"(?m)^[ \t]*(?:/{2,}!?|/\*+!?|\*+(?!/)|#+|--+(?:\[\[)?|<!--)[ \t]?", "", text)
    return re.sub(r"[ \t]*(?:\*+/|-->|\]\])[ \t]*$", "", text, flags=re.MULTILINE)


def _captured(grammar: str, tree: Tree) -> dict[str, list[Node]]:
    from tree_sitter import QueryCursor  # noqa: PLC0415 - late: a change without code needs none

    # One pass in C for all that is looked for: walking the nodes from here costs ten times the parse.
    cursor = QueryCursor(_query(grammar))
    return cursor.captures(tree.root_node)


_lock = threading.Lock()


def _query(grammar: str) -> Query:
    with _lock:
        return _compiled(grammar)


@functools.cache
def _compiled(grammar: str) -> Query:
    from tree_sitter import Query  # noqa: PLC0415 - the same
    from tree_sitter_language_pack import get_language  # noqa: PLC0415 - the same

    language = get_language(grammar)  # type: ignore[arg-type]  # our table names it
    kinds = [kind for kind in _COMMENTS if language.id_for_node_kind(kind, True) is not None]
    parts = [f"({kind}) @comment" for kind in kinds]
    parts += [f"({kind}) @function" for kind in _FUNCTIONS.get(grammar, "").split()]
    return Query(language, "\n".join(parts))


def _embedded_grammar(element: str, attributes: bytes) -> str:
    if element == "style_element":
        return "scss" if b"scss" in attributes else "css"
    if b"json" in attributes or b"template" in attributes:
        return ""
    return (
        "tsx"
        if b"tsx" in attributes
        else "typescript"
        if re.search(rb"lang=.?ts|typescript", attributes)
        else "javascript"
    )


def body_of(node: Node) -> Node | None:
    """The body of a function; None where it is only declared."""
    if node.type == "function_body":
        return node
    found = node.child_by_field_name("body")
    if found is not None:
        return found
    last = next((child for child in reversed(node.named_children) if child.type in _BODIES), None)
    # Ruby and Lua have no node for a body without statements.
    return last or (
        node
        if node.type in {"method", "singleton_method", "function_declaration", "function_definition"}
        and node.children[-1].type == "end"
        else None
    )


def _statements(body: Node) -> list[Node]:
    """The statements of a body; a single expression is one."""
    if body.type in {"method", "singleton_method", "function_declaration", "function_definition"}:
        return []
    if body.type not in _BODIES:
        return [body]
    children = [child for child in body.named_children if "comment" not in child.type]
    if len(children) == 1 and children[0].type in _WRAPPERS:
        return _statements(children[0])
    return children


def _cut(node: Node, content: bytes) -> str:
    # `node.text` would ask for the source piece by piece, through Python, at twenty times the cost.
    return content[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _text(node: Node, content: bytes) -> str:
    text = _cut(node, content)
    for child in node.children:
        if "comment" in child.type:
            text = text.replace(_cut(child, content), " ")
    return " ".join(text.split())


def _name(node: Node) -> str:
    if node.type == "function_body":
        before = node.prev_named_sibling
        return _name(before) if before is not None else ""
    for holder in (node, node.parent):
        if holder is None:
            break
        for field in ("name", "key", "left", "declarator"):
            found = holder.child_by_field_name(field)
            while found is not None and found.child_by_field_name("declarator") is not None:
                found = found.child_by_field_name("declarator")
            if found is not None:
                return (found.text or b"").decode("utf-8", "replace")
        if holder.type in {"method_signature", "function_signature", "function_declaration"}:
            inner = next(
                (each for each in holder.named_children if each.type in {"function_signature", "simple_identifier"}),
                None,
            )
            if inner is not None:
                return _name(inner) if inner.type == "function_signature" else (inner.text or b"").decode()
        if node.type not in {"arrow_function", "function_expression", "func_literal"}:
            break
    return ""


def _holder(node: Node) -> Node:
    """The statement or member that a function is, or is the value of: comments stand above it."""
    if node.type == "function_body" and node.prev_named_sibling is not None:
        node = node.prev_named_sibling
    while node.parent is not None and node.parent.start_byte == node.start_byte and node.parent.parent is not None:
        node = node.parent
    while node.parent is not None and node.parent.type in {
        "variable_declarator", "lexical_declaration", "variable_declaration", "export_statement",
        "assignment_expression", "expression_statement", "pair", "public_field_definition", "assignment_statement",
        "template_declaration",
    }:  # fmt: skip
        node = node.parent
    return node


def _above(node: Node, remarks: Sequence[Comment]) -> Iterator[Comment]:
    """The comments that stand right above a node, nearest last."""
    line, found = node.start_point.row + 1, list[Comment]()
    for comment in reversed([each for each in remarks if each.start < node.start_byte]):
        ends = comment.line + comment.text.rstrip().count("\n")
        # Attributes and annotations may stand between.
        if line - ends > (1 if found else 3):
            break
        found.append(comment)
        line = comment.line
    yield from reversed([each for each in found if _touches(each, node)])


def _touches(comment: Comment, node: Node) -> bool:
    before = node.prev_sibling
    return before is None or comment.start >= before.start_byte


def _promises(grammar: str, node: Node, doc: str) -> bool:
    if grammar == "go" or node.type in {"arrow_function", "function_expression", "func_literal"}:
        return False  # the compiler refuses a body without a result, or it is a callback
    for field in ("return_type", "returns", "result", "type"):
        found = node.child_by_field_name(field)
        if found is not None:
            text = (found.text or b"").decode("utf-8", "replace")
            return grammar == "php" and not _VOID.match(text) and text[:1].islower()
    return bool(re.search(r"^[\s*/#-]*@returns?\b(?!\s+\{?(?:void|undefined|nothing|null)\b)", doc, re.MULTILINE))


def _excused(node: Node, name: str, *, prints: bool, bare: bool) -> bool:
    """Whether a body may be empty by what it is part of."""
    if not prints and (wording.no_op_name(name.strip("#_")) or (bare and _HOOK.match(name))):
        return True
    parent, depth = node.parent, 0
    while parent is not None and depth < 4:  # noqa: PLR2004 - a member, its body, its class, an export
        if _DECLARED.fullmatch(parent.type):
            return True
        owner = parent.child_by_field_name("name") or parent.child_by_field_name("type")
        if owner is not None and re.search("class|impl|object|struct", parent.type):
            text = (owner.text or b"").decode("utf-8", "replace")
            return bool(_BASE.search(text)) if prints else wording.no_op_name(text)
        parent, depth = parent.parent, depth + 1
    receiver = node.child_by_field_name("receiver")
    return receiver is not None and bool(
        re.search(rb"(?i)no_?op|null|fake|mock|dummy|unimplemented", receiver.text or b"")
    )


def _is_test(node: Node, holder: Node, name: str) -> bool:
    if node.type in {"arrow_function", "function_expression"}:
        call = node.parent.parent if node.parent is not None else None
        function = call.child_by_field_name("function") if call is not None else None
        return function is not None and (function.text or b"").decode("utf-8", "replace") in _TEST_CALL
    if re.match(r"^(?:Test[A-Z_]|test_|test[A-Z])", name) and node.type in {
        "function_declaration",
        "method",
        "method_declaration",
    }:
        return True
    before = holder.prev_named_sibling
    text = (holder.text or b"")[:300] + (
        (before.text or b"")[:300] if before is not None and "attribute" in before.type else b""
    )
    return bool(_TEST.search(text.decode("utf-8", "replace")))
