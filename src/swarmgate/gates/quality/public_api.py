"""Lists the public names of a file by the rules of its language.

A name is a function, class or type at the level of the module. Methods, constants and imports are none, unless
`__all__` or an export list names them. Where nobody imports from there is no API: tests, examples, scripts, docs.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import TYPE_CHECKING

from swarmgate.gates.source import grammar_tree, python_tree
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tree_sitter import Node

    from swarmgate.gates.source.file import SourceFile

_INTERNAL = frozenset(
    {
        "benchmark", "benchmarks", "demo", "demos", "doc", "docs", "example", "examples", "internal", "migrations",
        "playground", "sandbox", "scripts", "test", "tests", "testing", "tools",
    }
)  # fmt: skip
"""Folders that no user of the project imports from (`internal`: Go's own rule)."""
_SCRIPTS = frozenset({"conftest", "noxfile", "setup", "tasks", "__main__", "manage"})


def delta(files: Iterable[SourceFile], deleted: Iterable[SourceFile]) -> tuple[list[tuple[str, str]], list[str]]:
    """What the change added and removed; a name that moved to another file is neither.

    Returns:
        The added names with their files, and the removed names, both sorted.
    """
    now: list[tuple[str, str, bool]] = []
    was: list[tuple[str, str, bool]] = []
    for file in files:
        if file.base_path == file.path and _same_surface(file):
            continue
        offered = names(file.language, file.path, file.content) if _exposed(file.path) else []
        now += [(name, file.path, own) for name, own in offered]
        if file.was.content and _exposed(file.base_path):
            past = names(file.language, file.base_path, file.was.content)
            past += _reachable(file, {name for name, _ in offered} - {name for name, _ in past})
            was += [(name, file.base_path, own) for name, own in past]
    for file in deleted:
        if _exposed(file.path):
            was += [(name, file.path, own) for name, own in names(file.language, file.path, file.was.content)]
    after, before = _counted(now), _counted(was)
    fresh, places = after - before, {name: path for name, path, _ in reversed(now)}
    return sorted((name, places[name]) for name in fresh.elements()), sorted((before - after).elements())


def names(language: str, path: str, content: bytes) -> list[tuple[str, bool]]:
    """The public names of a file, and whether each is defined there (else it is passed on from elsewhere)."""
    if language == "python":
        return list(_python(content))
    reader = _READERS.get(language)
    grammar = grammars.grammar_of(path, language)
    if reader is None or not grammar:
        return []
    try:
        root = grammar_tree.parse(content, grammar).root_node
    except grammars.TooSlow:
        return []
    return list(dict.fromkeys(reader(root)))


_SURFACE = {
    "python": re.compile(r"^\s*(?:async +def|def|class|if __name__)\b.*$", re.MULTILINE),
    "javascript": re.compile(r"^.*\bexports?\b.*$", re.MULTILINE),
    "typescript": re.compile(r"^.*\bexports?\b.*$", re.MULTILINE),
    "rust": re.compile(r"^\s*pub\b.*$", re.MULTILINE),
    "java": re.compile(r"^.*\b(?:class|interface|enum|record)\b.*$", re.MULTILINE),
}
_LISTS = re.compile(r"__all__|\bexports?\s*=?\s*\{")
"""Names that stand on lines of their own."""


def _same_surface(file: SourceFile) -> bool:
    """Whether no line that could make a name public differs: most changes are spared two syntax trees."""
    lines = _SURFACE.get(file.language)
    if lines is None or _LISTS.search(file.now.text) or _LISTS.search(file.was.text):
        return False
    return lines.findall(file.now.text) == lines.findall(file.was.text)


def _counted(found: Iterable[tuple[str, str, bool]]) -> Counter[str]:
    """How often each name is offered; passing on a name that is defined in the change as well is no further one."""
    found = list(found)
    own = Counter(name for name, _, defined in found if defined)
    own.update({name for name, _, defined in found if not defined and name not in own})
    return own


def _exposed(path: str) -> bool:
    *folders, name = path.split("/")
    stem = name.partition(".")[0]
    private = (part for part in [*folders, stem] if part.startswith("_") and not part.startswith("__"))
    return not (any(private) or _INTERNAL & {folder.lower() for folder in folders} or stem in _SCRIPTS)


def _python(content: bytes) -> Iterator[tuple[str, bool]]:
    try:
        module = python_tree.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # the syntax gate names it
    if content.startswith(b"#!") or any(_is_main(node) for node in module.body):
        return  # a program: it is run, not imported
    defined = {
        node.name: True
        for node in _flat(module.body)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    listed = _all(module)
    yield from (
        ((name, name in defined) for name in listed)
        if listed is not None
        else ((name, True) for name in defined if not name.startswith("_"))
    )


def _is_main(node: ast.stmt) -> bool:
    if not (isinstance(node, ast.If) and isinstance(node.test, ast.Compare)):
        return False
    return ast.unparse(node.test).replace("'", '"') == '__name__ == "__main__"'


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those under `if` and `try` included."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try):
            yield from _flat(node.body)
            yield from _flat(node.orelse)


def _all(module: ast.Module) -> list[str] | None:
    found: list[str] | None = None
    for node in module.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if not any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            continue
        value = getattr(node, "value", None)
        if isinstance(value, ast.List | ast.Tuple):
            texts = (each.value for each in value.elts if isinstance(each, ast.Constant))
            found = [*(found or []), *(text for text in texts if isinstance(text, str))]
    return found


def _reachable(file: SourceFile, names: set[str]) -> list[tuple[str, bool]]:
    """Which of some names the base's module imported: without an `__all__` its users reached them, listed or not."""
    if not names or file.language != "python" or "__all__" in file.was.text:
        return []
    try:
        module = python_tree.parse(file.was.content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    imports = (node for node in module.body if isinstance(node, ast.Import | ast.ImportFrom))
    imported = {alias.asname or alias.name for node in imports for alias in node.names}
    return [(name, False) for name in names & imported]


def _name(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


_FUNCTIONS = ("function_declaration", "generator_function_declaration", "class_declaration", "function_signature")
_CLASSES = ("abstract_class_declaration", "enum_declaration")


def _javascript(root: Node) -> Iterator[tuple[str, bool]]:
    for node in root.children:
        if node.type == "export_statement":
            yield from _exported(node)
        elif node.type == "expression_statement":
            yield from _commonjs(node)


def _exported(node: Node) -> Iterator[tuple[str, bool]]:
    """`export function f`, `export const f = () => ..`, `export { a, b as c }`, `export default`. Types are none."""
    default = any(child.type == "default" for child in node.children)
    passed_on = node.child_by_field_name("source") is not None
    if default:
        yield "default", True
    for child in node.named_children:
        if child.type in (*_FUNCTIONS, *_CLASSES) and not default:
            yield _name(child.child_by_field_name("name")), True
        elif child.type in ("lexical_declaration", "variable_declaration"):
            for each in child.named_children:
                yield from (
                    [(_name(each.child_by_field_name("name")), True)] if each.type == "variable_declarator" else []
                )
        elif child.type == "export_clause" and not any(each.type == "type" for each in node.children):
            for each in child.named_children:
                alias = each.child_by_field_name("alias") or each.child_by_field_name("name")
                yield from [(_name(alias), not passed_on)] if each.type == "export_specifier" else []


_COMMONJS = re.compile(rb"^(?:module\.)?exports\.(\w+)\s*=")
_OBJECT = re.compile(rb"^module\.exports\s*=\s*\{")


def _commonjs(node: Node) -> Iterator[tuple[str, bool]]:
    text = node.text or b""
    match = _COMMONJS.match(text)
    if match:
        yield match[1].decode(), True
    elif _OBJECT.match(text):
        value = node.named_children[0].child_by_field_name("right")
        for each in value.named_children if value is not None else ():
            key = each.child_by_field_name("key") or each.child_by_field_name("name")
            yield from [(_name(key or each), True)] if each.type != "comment" else []


def _go(root: Node) -> Iterator[tuple[str, bool]]:
    for node in root.children:
        if node.type == "function_declaration":
            yield from _upper(_name(node.child_by_field_name("name")))
        elif node.type == "type_declaration":
            for each in node.named_children:
                yield from _upper(_name(each.child_by_field_name("name")))


def _upper(name: str) -> Iterator[tuple[str, bool]]:
    if name[:1].isupper():
        yield name, True


_RUST = frozenset(
    {"function_item", "struct_item", "enum_item", "trait_item", "type_item", "union_item", "macro_definition"}
)


def _rust(root: Node) -> Iterator[tuple[str, bool]]:
    for node in root.children:
        visible = any(child.type == "visibility_modifier" and child.text == b"pub" for child in node.children)
        if visible and node.type in _RUST:
            yield _name(node.child_by_field_name("name")), True


_JAVA = frozenset(
    {
        "class_declaration",
        "interface_declaration",
        "enum_declaration",
        "record_declaration",
        "annotation_type_declaration",
    }
)


def _java(root: Node) -> Iterator[tuple[str, bool]]:
    for node in root.children:
        modifiers = next((child for child in node.children if child.type == "modifiers"), None)
        if node.type in _JAVA and modifiers is not None and b"public" in (modifiers.text or b"").split():
            yield _name(node.child_by_field_name("name")), True


_READERS: dict[str, Callable[[Node], Iterator[tuple[str, bool]]]] = {
    "go": _go,
    "java": _java,
    "javascript": _javascript,
    "rust": _rust,
    "typescript": _javascript,
}
