"""Converts functions, classes and interfaces of JavaScript and TypeScript to API symbols."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.model import Call, Parameter, ParameterKind, Symbol
from swarmgate.gates.source.grammar_nodes import child, flat, header, line, name, named, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

FUNCTIONS = {
    "function_declaration", "generator_function_declaration", "function_signature", "function_expression",
    "arrow_function", "generator_function", "function",
}  # fmt: skip
_WRAPPERS = {"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"}
MAKER = "constructor"


def bare(node: Node | None) -> Node | None:
    """The expression inside parentheses and type assertions."""
    while node is not None and node.type in _WRAPPERS and node.named_children:
        node = node.named_children[0]
    return node


def function(called: str, node: Node) -> Symbol:
    """The symbol of a function, under the name that it is exported by."""
    call, body = call_of(node), text(child(node, "body"))
    declared = any(each.type == "async" for each in node.children)
    promised = "Promise" in call.returns or re.search(r"\bPromise\b|\.then\(", body)
    traits = {"async"} if declared or promised else set()
    if not declared and not call.returns and re.search(r"\breturn\s+(?:new\s+)?[\w.$]+\(|^[^{]*\(", body):
        traits.add("passing")  # it may pass on a promise that it got
    return Symbol(called, "function", line(node), header(node), calls=(call,), traits=frozenset(traits))


def call_of(node: Node) -> Call:
    """The parameters and the result of a function."""
    body = text(child(node, "body"))
    listed = child(node, "parameters")
    if listed is None:
        alone = child(node, "parameter")
        parameters = [Parameter(text(alone))] if alone is not None else []
    else:
        parameters = [each for part in listed.named_children for each in _parameter(part, body)]
    return Call(tuple(parameters), flat(child(node, "return_type")).removeprefix(":"), header(node))


def _parameter(node: Node, body: str) -> Iterator[Parameter]:
    pattern, default, optional, type_ = node, "", False, ""
    if node.type in {"required_parameter", "optional_parameter"}:
        optional, type_ = node.type == "optional_parameter", flat(child(node, "type")).removeprefix(":")
        value, inner = child(node, "value"), child(node, "pattern")
        default, pattern = flat(value), inner if inner is not None else node
    elif node.type == "assignment_pattern":
        inner = child(node, "left")
        default, pattern = flat(child(node, "right")), inner if inner is not None else node
    if pattern.type in {"comment", "decorator", "this"} or text(pattern) == "this":
        return
    if pattern.type == "rest_pattern":
        yield Parameter(text(pattern).lstrip("."), ParameterKind.REST, required=False, type=type_)
        return
    keys = tuple(_keys(pattern)) if pattern.type == "object_pattern" and not type_ else ()
    lenient = bool(re.search(r"\b(undefined|any|unknown|void)\b", type_.split("=>")[0]))
    called = text(pattern) if pattern.type == "identifier" else "{}"
    required = not (optional or default or lenient) and not (
        pattern.type == "identifier" and _is_required(called, body)
    )
    if node.type == "identifier" and required and _named(called, body):  # JavaScript, where no declaration says it
        required = _needed(called, body)
    yield Parameter(called, required=required, default=default, type=type_, keys=keys)


def _keys(pattern: Node) -> Iterator[tuple[str, bool]]:
    for each in pattern.named_children:
        if each.type == "rest_pattern":
            yield "...", False
        elif each.type == "object_assignment_pattern":
            yield text(child(each, "left")), False
        elif each.type == "pair_pattern":
            yield text(child(each, "key")), True
        elif each.type == "shorthand_property_identifier_pattern":
            yield text(each), True


def _is_required(called: str, body: str) -> bool:
    """Whether a body looks whether the argument was given at all: then it is optional, whatever its declaration."""
    word = re.escape(called)
    tests = (
        rf"(?<![.\w])arguments\s*[\[.,;)]|\btypeof\s+{word}\b|!\s*{word}\b(?!\s*[.(\[])|\b{word}\s*(?:\?\?|\|\||&&|\?\.|\?(?![.:]))"
        rf"|\b{word}\s*[!=]==?\s*(?:undefined|null|void)|(?:undefined|null)\s*[!=]==?\s*{word}\b|if\s*\(\s*{word}\s*[)&|]"
    )
    return bool(called and re.search(tests, body))


def _named(called: str, body: str) -> bool:
    return re.search(rf"(?:(?<![\w$.])|(?<=\.\.\.)){re.escape(called)}(?![\w$])", body) is not None


def _needed(called: str, body: str) -> bool:
    """Whether a body fails, or computes nonsense, where the argument is `undefined`.

    A member of it, a call of it, its parts, a loop over it; arithmetic, an order, a text. To compare it with `===`, to
    pass it on, to return it, to spread it into an object do no harm.
    """
    word = rf"(?<![\w$.]){re.escape(called)}(?![\w$])"
    operator = r"(?:[-+*/%]|<=?|>=?|\bin\b|\binstanceof\b)"
    uses = (
        rf"{word}\s*(?:\.(?!\.)|\[|\(|`)|\bnew\s+{word}|[\]}}]\s*=\s*{word}|\b(?:of|await)\s+{word}\s*\)|[\[(]\s*\.\.\.{re.escape(called)}\b"
        rf"|{word}\s*{operator}(?!=?>|/|\*)|(?<![/*=]){operator}\s*{word}|\$\{{\s*{word}\s*\}}"
    )
    return re.search(uses, body) is not None


def class_of(called: str, node: Node) -> Symbol:
    """The symbol of a class with its members; without a constructor it takes no arguments."""
    symbol = Symbol(called, "class", line(node), header(node))
    heritage = named(node, "class_heritage")
    if heritage:
        clauses = named(heritage[0], "extends_clause") or heritage
        values = [flat(each).partition("<")[0] for each in clauses[0].named_children if each.type != "type_arguments"]
        symbol.bases = tuple(value.rpartition(".")[2] for value in values if re.fullmatch(r"[\w.$]+", value))
    if node.type == "abstract_class_declaration":
        symbol.traits |= {"abstract"}
    put_members(symbol, child(node, "body"))
    if MAKER not in symbol.members and not heritage:
        call = Call((), text=f"new {called}()")
        symbol.members[MAKER] = Symbol(
            MAKER, "function", symbol.line, call.text, calls=(call,), traits=frozenset({"implicit"})
        )
    return symbol


def alias(called: str, node: Node) -> Symbol:
    """A type alias; one of an object type is used like an interface."""
    value = child(node, "value")
    symbol = Symbol(called, "type", line(node), flat(node))
    if value is not None and value.type == "object_type":
        symbol.kind = "interface"  # both are used alike
        symbol.text = header(node, "value")
        put_members(symbol, value)
    elif value is not None and value.type not in {"conditional_type", "mapped_type"}:
        symbol.type = flat(value)
    return symbol


def put_members(symbol: Symbol, body: Node | None) -> None:
    """Read the members of a class or an interface into its symbol."""
    for node in named(body):
        key = name(node).strip("\"'")
        if not key or key.startswith(("#", "[")):
            continue
        words = {each.type for each in node.children if not each.is_named}
        access = next((flat(each) for each in named(node, "accessibility_modifier")), "")
        if key == MAKER and "class" in symbol.kind:
            _fields_of_constructor(symbol, node)
        member = _member(symbol, key, node, words)
        if member is None:
            continue
        member.public = access != "private" and not key.startswith("_")
        member.traits |= ({"static"} & words) | ({"protected"} & {access}) | ({"override"} & _overriding(node, words))
        present = symbol.members.get(key)
        if present is None:
            symbol.members[key] = member
        elif present.calls and member.calls and node.type.endswith("signature"):
            present.calls += member.calls
        elif present.kind == member.kind == "property":
            present.traits |= member.traits
        elif not (present.calls and member.calls):
            present.ambiguous = True


def _overriding(node: Node, words: set[str]) -> set[str]:
    return {"override"} if "override" in words or named(node, "override_modifier") else set()


def _member(symbol: Symbol, key: str, node: Node, words: set[str]) -> Symbol | None:
    optional = "?" in words
    if node.type in {"method_definition", "method_signature", "abstract_method_signature"}:
        if {"get", "set"} & words:
            writable = frozenset({"writable"} if "set" in words else ())
            return Symbol(key, "property", line(node), header(node), traits=writable)
        member = function(key, node)
        interface = symbol.kind in {"interface", "type"}
        member.required = (interface and not optional) or node.type.startswith("abstract")
        member.traits |= {"optional"} if optional else frozenset()
        member.traits |= {"implicit"} if key == MAKER else frozenset()
        return member
    if node.type not in {"property_signature", "public_field_definition", "field_definition"}:
        return None
    type_, value = flat(child(node, "type")).removeprefix(":"), bare(child(node, "value"))
    if value is not None and value.type in FUNCTIONS:
        return function(key, value)
    member = Symbol(key, "attribute", line(node), flat(node)[:200], type=type_)
    member.required = node.type == "property_signature" and not optional
    member.traits = frozenset({"readonly"} & words) | frozenset({"optional"} if optional else ())
    member.traits |= frozenset() if "readonly" in words else {"writable"}
    return member


def _fields_of_constructor(symbol: Symbol, node: Node) -> None:
    """`constructor(public x: T)` declares a field as well."""
    for each in named(child(node, "parameters"), "required_parameter", "optional_parameter"):
        access = [flat(one) for one in named(each, "accessibility_modifier")]
        words = {one.type for one in each.children if not one.is_named}
        if access or "readonly" in words:
            key, type_ = text(child(each, "pattern")), flat(child(each, "type")).removeprefix(":")
            public = "private" not in access and not key.startswith("_")
            symbol.members[key] = Symbol(key, "attribute", line(each), flat(each), public=public, type=type_)
