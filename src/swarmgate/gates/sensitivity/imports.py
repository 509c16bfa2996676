"""Extracts the imported modules and names from the import statements of nine languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from swarmgate.gates.source.grammar_nodes import child, flat, name, named, text

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class Imported:
    """One import: the module, every full name that it brings in, and the full name behind each local one."""

    module: str
    names: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)


def imports_of(language: str, node: Node) -> Iterator[Imported]:
    """What a node imports; nothing where it is no import."""
    reader = _READERS.get((language, node.type))
    if reader is not None:
        yield from reader(node)


def _whole(module: str, alias: str) -> Imported:
    return Imported(module, (module,), {alias: module} if alias else {})


def _python(node: Node) -> Iterator[Imported]:
    for each in named(node):
        target = child(each, "name") if each.type == "aliased_import" else each
        module = text(target)
        yield _whole(module, text(child(each, "alias")) if each.type == "aliased_import" else "")


def _python_from(node: Node) -> Iterator[Imported]:
    module = text(child(node, "module_name")).lstrip(".")
    names, aliases = [module], {}
    for each in node.children_by_field_name("name"):
        plain = name(each) if each.type == "aliased_import" else text(each)
        full = f"{module}.{plain}" if module else plain
        names.append(full)
        aliases[text(child(each, "alias")) or plain] = full
    yield Imported(module, tuple(filter(None, names)), aliases)


def _script(node: Node) -> Iterator[Imported]:
    module = _quoted(text(child(node, "source")))
    names, aliases = [module], {}
    for each in (each for clause in named(node, "import_clause") for each in named(clause)):
        if each.type == "named_imports":
            for one in named(each, "import_specifier"):
                names.append(f"{module}.{name(one)}")
                aliases[text(child(one, "alias")) or name(one)] = names[-1]
        else:  # `import crypto from`, `import * as crypto from`
            aliases[text(named(each)[0]) if named(each) else text(each)] = module
    if module:
        yield Imported(module, tuple(names), aliases)


def _required(node: Node) -> Iterator[Imported]:
    """`const { exec: run } = require("child_process")`, `const crypto = await import("crypto")`."""
    value = child(node, "value")
    value = named(value)[0] if value is not None and value.type == "await_expression" and named(value) else value
    if value is None or value.type != "call_expression" or text(child(value, "function")) not in {"require", "import"}:
        return
    module, target = _first_string(child(value, "arguments")), child(node, "name")
    if not module or target is None:
        return
    if target.type == "identifier":
        yield _whole(module, text(target))
        return
    aliases = {}
    for each in named(target):
        key = text(child(each, "key")) if each.type == "pair_pattern" else text(each)
        aliases[text(child(each, "value")) if each.type == "pair_pattern" else key] = f"{module}.{key}"
    yield Imported(module, (module, *aliases.values()), aliases)


def _go(node: Node) -> Iterator[Imported]:
    module = _quoted(text(child(node, "path")))
    last = re.sub(r"/v\d+$", "", module).rpartition("/")[2]
    yield _whole(module, name(node) or last)


def _java(node: Node) -> Iterator[Imported]:
    imported = flat(node).removeprefix("import ").removeprefix("static ").rstrip(";").strip()
    module = imported.removesuffix(".*")
    yield _whole(module, "" if imported.endswith(".*") else module.rpartition(".")[2])


def _ruby(node: Node) -> Iterator[Imported]:
    if text(child(node, "method")) in {"require", "require_relative"} and child(node, "receiver") is None:
        module = _first_string(child(node, "arguments"))
        if module:
            yield _whole(module, "")


def _php(node: Node) -> Iterator[Imported]:
    parts = re.split(r"\s+as\s+", flat(node), maxsplit=1, flags=re.IGNORECASE)
    module = parts[0].strip("\\ ").replace("\\", ".")
    yield _whole(module, parts[1].strip() if len(parts) > 1 else module.rpartition(".")[2])


def _rust(node: Node) -> Iterator[Imported]:
    for path in _spread(re.sub(r"^(?:pub(?:\([^)]*\))? )?use |;$", "", flat(node))):
        full, _, alias = path.partition(" as ")
        module = full.strip().replace("::", ".").removesuffix(".*").removesuffix(".self")
        yield _whole(module, "" if full.endswith("*") else alias.strip() or module.rpartition(".")[2])


def _spread(path: str) -> Iterator[str]:
    """`a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`."""
    head, brace, rest = path.partition("{")
    if not brace:
        yield path
        return
    depth, start, inner = 0, 0, rest.rpartition("}")[0]
    for at, char in enumerate(f"{inner},"):
        depth += (char == "{") - (char == "}")
        if char == "," and not depth:
            part, start = inner[start:at].strip(), at + 1
            if part:
                yield from _spread(head + part)


def _csharp(node: Node) -> Iterator[Imported]:
    imported = re.sub(r"^(?:global )?using (?:static )?|;$", "", flat(node))
    alias, equals, full = imported.partition("=")
    yield _whole(full.strip() if equals else imported.strip(), alias.strip() if equals else "")


def _first_string(arguments: Node | None) -> str:
    found = named(arguments)
    return _quoted(text(found[0])) if found and "string" in found[0].type else ""


def _quoted(literal: str) -> str:
    return literal.strip("'\"`").removeprefix("node:")


_SCRIPTS: dict[str, Callable[[Node], Iterator[Imported]]] = {
    "import_statement": _script,
    "variable_declarator": _required,
}
_READERS: dict[tuple[str, str], Callable[[Node], Iterator[Imported]]] = {
    ("python", "import_statement"): _python,
    ("python", "import_from_statement"): _python_from,
    **{(language, kind): read for language in ("javascript", "typescript") for kind, read in _SCRIPTS.items()},
    ("go", "import_spec"): _go,
    ("java", "import_declaration"): _java,
    ("ruby", "call"): _ruby,
    ("php", "namespace_use_clause"): _php,
    ("rust", "use_declaration"): _rust,
    ("csharp", "using_directive"): _csharp,
}
"""Who reads which node of which language."""
