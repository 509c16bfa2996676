"""Makes mutations of JavaScript, TypeScript, Go, Rust and Java with tree-sitter, for `benchmarks/contracts.py`."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

from contracts_python import Mutant

from swarmgate.gates.project.files import language_of
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


class Target(NamedTuple):
    """Something public: what it is, its node (with name, parameters), and the node that goes when it is removed."""

    what: str
    node: Node
    whole: Node


_ADDED = {"go": "addedX string", "rust": "added_x: u8", "java": "String addedX", "typescript": "addedX: string"}
_FUNCTIONS = {
    "go": "\nfunc AddedX(a int) int {\n\treturn a\n}\n", "rust": "\npub fn added_x(a: i32) -> i32 {\n    a\n}\n",
    "java": "\nclass AddedX {\n  public int m() { return 1; }\n}\n",
    "javascript": "\nexport function addedX(a) {\n  return a\n}\n",
    "typescript": "\nexport function addedX(a: number) {\n  return a\n}\n",
}  # fmt: skip
_TYPES = {"go": "chan error", "rust": "&'static [u8]", "java": "java.util.BitSet", "typescript": "Map<symbol, bigint>"}
_COMMON = re.compile(r"\bmodule\.exports\b|\bexports\.")


def mutants(path: str, text: str) -> Iterator[Mutant]:
    """Breaking edits at every public thing, and harmless ones."""
    language = language_of(path)
    root = grammars.parse(grammars.grammar_of(path, language), text.encode()).root_node
    if root.has_error:
        return
    content = text.encode()
    targets = [each for each in _targets(language, root) if _once(each, content)]

    def made(kind: str, breaks: bool, changed: bytes) -> Mutant:  # noqa: FBT001 - a column of the table
        return Mutant(kind, breaks, {path: changed.decode("utf-8", "replace")})

    for each in targets:
        for kind, changed in _breaking(language, each, content):
            yield made(kind, True, changed)
        for kind, changed in _harmless(language, each, content):
            yield made(kind, False, changed)
    if targets and language not in {"java", "go"}:
        yield Mutant("module removed", True, {})
    if targets:
        top = sorted({each.whole.start_byte for each in targets if each.whole.parent == root})
        for start in top[:3]:
            yield made("blank lines added", False, _cut(content, start, start, b"\n\n" if language != "rust" else b""))
        yield made("comment added", False, content + b"\n// looked at again\n")
        if language == "java" or not _COMMON.search(text):
            yield made("function added", False, content + _FUNCTIONS[language].encode())
        yield from (made("reordered", False, changed) for changed in _reordered(targets, root, content))


def _once(target: Target, content: bytes) -> bool:
    name = _name(target.node)
    return bool(name) and len(re.findall(rb"(?<![\w.])%s\s*[(:={<]" % re.escape(name), content)) <= 1


def _name(node: Node) -> bytes:
    named = node.child_by_field_name("name")
    return named.text or b"" if named is not None else b""


def _cut(content: bytes, start: int, end: int, text: bytes = b"") -> bytes:
    return content[:start] + text + content[end:]


def _breaking(language: str, target: Target, content: bytes) -> Iterator[tuple[str, bytes]]:
    what, node, whole = target
    end = whole.end_byte
    if what == "member":  # with the comma behind it
        end += len(re.match(rb"\s*,?", content[end:])[0])  # type: ignore[index]  # it always matches
    yield f"{what} removed", _cut(content, whole.start_byte, end)
    name = node.child_by_field_name("name")
    if name is not None:
        yield f"{what} renamed", _cut(content, name.end_byte, name.end_byte, b"X")
    function = _function(node)
    listed = function.child_by_field_name("parameters") if function is not None else None
    if function is None or listed is None:
        return
    parameters = [
        each for each in listed.named_children if each.type not in {"comment", "line_comment", "block_comment"}
    ]
    plain = [each for each in parameters if each.type not in {"self_parameter", "spread_parameter", "rest_pattern"}
             and b"..." not in (each.text or b"")]  # fmt: skip
    if plain and plain[-1] is parameters[-1] and b"?" not in (plain[-1].text or b"")[:40]:
        alone = len(parameters) == 1
        start = listed.start_byte + 1 if alone else parameters[-2].end_byte
        end = listed.end_byte - 1 if alone else plain[-1].end_byte
        grouped = language == "go" and len(plain[-1].children_by_field_name("name")) > 1
        if not grouped:
            yield "parameter removed", _cut(content, start, end)
    if len(plain) >= 2 and plain == parameters and _type(plain[0]) != _type(plain[1]):
        a, b = plain[0], plain[1]
        between = content[a.end_byte : b.start_byte]
        yield "parameters swapped", _cut(content, a.start_byte, b.end_byte, (b.text or b"") + between + (a.text or b""))
    if language in _ADDED and not (parameters and parameters[-1] not in plain) and b"?" not in (listed.text or b"") \
            and b"=" not in (listed.text or b""):  # fmt: skip
        at = parameters[-1].end_byte if parameters else listed.start_byte + 1
        yield (
            "required parameter added",
            _cut(content, at, at, (b", " if parameters else b"") + _ADDED[language].encode()),
        )
    yield from _returned(language, function, content)


def _type(node: Node) -> bytes:
    kind = node.child_by_field_name("type")
    return kind.text or b"" if kind is not None else node.text or b""


def _returned(language: str, function: Node, content: bytes) -> Iterator[tuple[str, bytes]]:
    field = {"go": "result", "rust": "return_type", "java": "type", "typescript": "return_type"}.get(language, "")
    result = function.child_by_field_name(field) if field else None
    if result is None or function.type == "constructor_declaration":
        return
    start = result.start_byte + (language == "typescript")
    old = content[start : result.end_byte].strip()
    if (
        old not in {b"any", b"unknown", b"void", b"this", b"never"}
        and b" is " not in old
        and not old.startswith(b"asserts")
    ):
        yield "return type changed", _cut(content, start, result.end_byte, b" " + _TYPES[language].encode())


def _harmless(language: str, target: Target, content: bytes) -> Iterator[tuple[str, bytes]]:
    function = _function(target.node)
    body = function.child_by_field_name("body") if function is not None else None
    if body is not None and content[body.start_byte : body.start_byte + 1] == b"{":
        yield "body edited", _cut(content, body.start_byte + 1, body.start_byte + 1, b" /* looked at again */ ")
    whole = target.whole
    yield "comment put before", _cut(content, whole.start_byte, whole.start_byte, b"/* looked at again */ ")
    listed = function.child_by_field_name("parameters") if function is not None else None
    if listed is not None and language in {"javascript", "typescript"} and target.node.type != "method_signature":
        parameters = [each for each in listed.named_children if each.type != "comment"]
        if not any(b"..." in (each.text or b"") for each in parameters) and listed.type == "formal_parameters":
            at = parameters[-1].end_byte if parameters else listed.start_byte + 1
            yield "optional parameter added", _cut(content, at, at, (b", " if parameters else b"") + b"addedX = 1")
    if listed is not None:
        spaced = re.sub(rb",\s*", b",\n    ", listed.text or b"")
        if b"//" not in spaced and b"'" not in spaced and b'"' not in spaced:
            yield "signature wrapped", _cut(content, listed.start_byte, listed.end_byte, spaced)


def _reordered(targets: list[Target], root: Node, content: bytes) -> Iterator[bytes]:
    functions = [each.whole for each in targets if each.whole.parent == root and each.what == "function"]
    for a, b in itertools.pairwise(functions):
        if a.end_byte <= b.start_byte:
            between = content[a.end_byte : b.start_byte]
            yield _cut(content, a.start_byte, b.end_byte, (b.text or b"") + between + (a.text or b""))


def _function(node: Node) -> Node | None:
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        return value if value is not None and value.child_by_field_name("parameters") is not None else None
    return node if node.child_by_field_name("parameters") is not None else None


def _targets(language: str, root: Node) -> Iterator[Target]:
    if language in {"javascript", "typescript"}:
        yield from _ecmascript(root)
    elif language == "go":
        yield from _go(root)
    elif language == "rust":
        yield from _rust(root)
    else:
        yield from _java(root)


def _ecmascript(root: Node) -> Iterator[Target]:  # noqa: C901 - a list of what counts
    for node in root.named_children:
        if node.type != "export_statement":
            continue
        declaration = node.child_by_field_name("declaration")
        default = any(each.type == "default" for each in node.children)
        if declaration is None or default:
            continue
        if declaration.type == "lexical_declaration":
            for each in declaration.named_children[:1]:
                name = each.child_by_field_name("name")
                if name is not None and name.type == "identifier" and len(declaration.named_children) == 1:
                    yield Target("function" if _function(each) else "constant", each, node)
            continue
        kinds = {"function_declaration": "function", "class_declaration": "class", "interface_declaration": "interface",
                 "type_alias_declaration": "type", "enum_declaration": "enum"}  # fmt: skip
        if declaration.type in kinds:
            yield Target(kinds[declaration.type], declaration, node)
        heritage = any(each.type == "class_heritage" for each in declaration.named_children)
        body = declaration.child_by_field_name("body")
        for each in body.named_children if body is not None and not heritage else ():
            text = each.text or b""
            hidden = re.match(rb"(private|protected|static|get|set|override|#|_|constructor)", text)
            quoted = _name(each)[:1] in {b"_", b"#", b"[", b"'", b'"'}
            if (
                each.type in {"method_definition", "method_signature", "property_signature"}
                and not hidden
                and not quoted
            ):
                yield Target("method" if "method" in each.type else "field", each, each)
            if each.type == "enum_assignment":
                yield Target("member", each, each)


def _go(root: Node) -> Iterator[Target]:  # noqa: C901 - a list of what counts
    package = next((each for each in root.named_children if each.type == "package_clause"), None)
    if package is None or (package.text or b"").endswith(b"main"):
        return
    for node in root.named_children:
        upper = _name(node)[:1].isupper()
        if node.type == "function_declaration" and upper:
            yield Target("function", node, node)
        if node.type == "method_declaration" and upper:
            receiver = re.search(rb"(\w+)(?:\[[^)]*)?\)$", (node.child_by_field_name("receiver").text or b""))  # type: ignore[union-attr]  # the grammar has one
            if receiver and receiver[1][:1].isupper():
                yield Target("method", node, node)
        for spec in node.named_children if node.type == "type_declaration" else ():
            if not _name(spec)[:1].isupper():
                continue
            yield Target("type", spec, node if len(node.named_children) == 1 else spec)
            for each in (one for part in spec.named_children for one in (part, *part.named_children)):
                for member in each.named_children:
                    if member.type == "method_elem" and _name(member)[:1].isupper():
                        yield Target("interface method", member, member)
                    single = len(member.children_by_field_name("name")) == 1
                    if member.type == "field_declaration" and _name(member)[:1].isupper() and single:
                        yield Target("field", member, member)


def _rust(root: Node) -> Iterator[Target]:
    kinds = {"function_item": "function", "struct_item": "struct", "enum_item": "enum", "trait_item": "trait",
             "const_item": "constant", "type_item": "type"}  # fmt: skip
    for node in root.named_children:
        if node.type in kinds and (node.text or b"").startswith(b"pub "):
            yield Target(kinds[node.type], node, node)
            body = node.child_by_field_name("body")
            for each in body.named_children if body is not None else ():
                if each.type == "field_declaration" and (each.text or b"").startswith(b"pub "):
                    yield Target("member", each, each)
                if each.type == "enum_variant":
                    yield Target("member", each, each)
                if each.type == "function_signature_item":
                    yield Target("trait method", each, each)
        if node.type == "impl_item" and node.child_by_field_name("trait") is None:
            for each in node.child_by_field_name("body").named_children:  # type: ignore[union-attr]  # it has one
                if each.type == "function_item" and (each.text or b"").startswith(b"pub "):
                    yield Target("method", each, each)


def _java(root: Node) -> Iterator[Target]:
    for node in root.named_children:
        if node.type not in {"class_declaration", "interface_declaration"} or not (node.text or b"").startswith(
            b"public"
        ):
            continue
        yield Target("type", node, node)
        body = node.child_by_field_name("body")
        for each in body.named_children if body is not None else ():
            modifiers = next(((part.text or b"") for part in each.named_children if part.type == "modifiers"), b"")
            public = b"public" in modifiers or (node.type.startswith("interface") and b"private" not in modifiers)
            if each.type == "method_declaration" and public and b"@Override" not in modifiers:
                yield Target("method", each, each)
            if each.type == "field_declaration" and b"public" in modifiers:
                yield Target("field", each.child_by_field_name("declarator"), each)  # type: ignore[arg-type]  # it has one
