"""Describes the body of a function for the detection of fake implementations, with tree-sitter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.gates.placeholders.fake_implementations import Shape
from swarmgate.gates.placeholders.function_bodies import Function, Step
from swarmgate.gates.placeholders.statements import steps_of
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

_MADE = re.compile(r"^[^=]*?\$?(\w+)(?:\s*:\s*[^=]+)?\s*:?=\s*(.+?);?$")
LANGUAGES = frozenset({"javascript", "typescript", "tsx", "go", "java", "rust"})
"""Grammars whose functions are judged by shape."""

_OUTERMOST = {"program", "source_file", "module", "mod_item"}
_BETWEEN = {
    "export_statement", "lexical_declaration", "variable_declaration", "variable_declarator", "declaration_list",
    "class_body", "block", "public_field_definition",
}  # fmt: skip
_OWNERS = {"class_declaration", "class", "impl_item", "abstract_class_declaration"}
_HERITAGE = {"class_heritage", "superclass", "super_interfaces", "extends_interfaces"}
_ANY_INTERFACE = re.compile(r"true|false|nil|Ok\(\(\)\)")
_DICE = re.compile(
    r"^(?:return\s+)?\(?(?:Math\.(?:floor|round|ceil)\(\s*)?\(?Math\.random\(\)[^A-Za-z]*$"
    r"|^return\s+rand\.(?:Int|Float)\w*\([\d]*\)[^A-Za-z]*$"
    r"|^(?:return\s+)?(?:new Random\(\)|rng)\.next\w*\([\d]*\)[^A-Za-z]*$"
    r"|^rand::random(?:::<\w+>)?\(\)[^A-Za-z]*$"
)
_EXPORTS = re.compile(rb"(?:module\.)?exports\s*=\s*\{[^}]*\}|export\s*(?:default\s*)?\{[^}]*\}|export\s+default\s+\w+")
_BEFORE, _AFTER = r"(?<![+\-*/%<>&|!.\w]\s)(?<![+\-*/%<>&|!.\w])", r"\b(?:\??\.\w+)*(?!\s*[(\[+\-*/%<>&|?.\w])"
"""A parameter, or a field of one, that no operator takes and that is not called."""


def steps_with_copies(statements: Sequence[str], node: Node) -> tuple[Step, ...] | None:
    """The steps of a body whose result copies parameters into a literal, or is drawn at random; None of any other."""
    plain = steps_of(statements)
    if plain is not None or not statements:
        return plain
    *before, last = statements
    if not _DICE.match(last):
        given = "|".join(map(re.escape, _given(node)))
        if not given or not re.search(r"[{\"'`]", last):
            return None
        last = re.sub(f"{_BEFORE}(?:{given}){_AFTER}", "null", last)
        if steps_of([last]) != (Step.CANNED,):
            return None
    first = steps_of(before)
    return (*first, Step.COPIES) if first is not None else None


def shape_of(node: Node, grammar: str, content: bytes, statements: Sequence[str], function: Function) -> Shape | None:
    """The shape of a function whose statements do no work."""
    name, steps = function.name, function.steps
    doc = function.doc or (function.above if grammar == "go" else "")
    free, owner = _owner(node, grammar)
    if not free or not name or not statements or _is_handed_on(name, node, content):
        return None
    given = tuple(_given(node))
    given_back = steps[-1] is not Step.TALKS or statements[-1].startswith("return")
    result = re.sub(r"^return\b\s*|;$", "", statements[-1]).strip() if given_back else ""
    if grammar == "go" and result == "nil" and _text(node.child_by_field_name("result")) == "error":
        result = "Ok(())"
    if owner and grammar == "go" and not doc and Step.TALKS not in steps and _ANY_INTERFACE.fullmatch(result):
        return None  # whatever interface it is one of
    if any(
        each is Step.CANNED and not text.startswith("return")
        for each, text in zip(steps, statements[:-1], strict=False)
    ):
        result = next((text.partition("=")[2].strip(" ;") for text in statements if "=" in text), result)
    if Step.ECHOES in steps:
        result = result.partition(",")[0].lstrip("&*$")
    message = " ".join(text for each, text in zip(steps, statements, strict=False) if each is Step.TALKS)
    talks = bool(message) or Step.COPIES in steps
    return Shape(name, owner, given, result, bool(_DICE.match(statements[-1])), talks, message, doc)


def _owner(node: Node, grammar: str) -> tuple[bool, str]:
    """Whether nothing but its name asks for a function, and the class that it is a method of."""
    if node.type == "method_declaration" and grammar == "go":
        return True, re.sub(r"^\(\s*\w*\s*\*?|\)$", "", _text(node.child_by_field_name("receiver")))
    if any(child.type == "modifiers" and "@" in _text(child) for child in node.children):
        return False, ""
    parent = node.parent
    while parent is not None:
        if parent.type in _OUTERMOST:
            return True, ""
        if parent.type in _OWNERS:
            derived = any(child.type in _HERITAGE for child in parent.children)
            named = parent.child_by_field_name("name") or parent.child_by_field_name("type")
            return not derived and parent.child_by_field_name("trait") is None, _text(named)
        if parent.type not in _BETWEEN:
            return False, ""
        parent = parent.parent
    return False, ""


def _given(node: Node) -> Iterator[str]:
    """The names of the parameters, without the receiver and `_`."""
    parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    if parameters is None:
        return
    for each in [parameters] if parameters.type == "identifier" else parameters.named_children:
        target = each.child_by_field_name("pattern") or each.child_by_field_name("name") or each
        if "comment" in each.type or each.type == "self_parameter":
            continue
        for one in grammars.walk(target):
            named = one.type in {"identifier", "shorthand_property_identifier_pattern"}
            if named and _text(one) not in {"_", "this", "self"}:
                yield _text(one)


def _is_handed_on(name: str, node: Node, content: bytes) -> bool:
    """Whether the file uses the name of a function in another way than by calling it, or defines it twice."""
    word = re.escape(name.encode())
    text = _EXPORTS.sub(b"", content)
    own = 1 if node.type in {"arrow_function", "function_expression"} else 0
    others = len(re.findall(rb"(?<![\w$.'\"`/-])%b(?=\s*(?:[,;)\]}=|&?]|$))" % word, text, re.MULTILINE))
    typed = len(re.findall(rb"(?:const|let|var)\s+%b\s*[:=]" % word, text))
    twice = len(re.findall(rb"(?:\bfunction|\bfunc|\bfn)\s+%b\s*[(<]" % word, text)) > 1
    return twice or others > (min(own, typed) if own else 0)


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""
