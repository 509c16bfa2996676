"""Reads Go's go.mod and go.sum."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.gates.sbom.model import Declared, Malformed, Reading, component
from swarmgate.gates.sbom.readers import hashes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.sbom.model import Component, Document

_MODULE = re.compile(r'^"?([^\s"]+)"? (v\S+)$')
_BLOCK = re.compile(r"^(require|replace|exclude|retract|tool|ignore|godebug)\s*\($")
_REPLACE = re.compile(r"^(\S+)(?: (v\S+))? => (\S+)(?: (v\S+))?$")
_DIRECTIVES = ("module", "go", "toolchain", "require", "replace", "exclude", "retract", "tool", "ignore", "godebug")


def manifest(document: Document) -> Reading:
    """What go.mod requires, after `replace`, with the hashes that go.sum beside it has.

    Raises:
        Malformed: a line is no directive, or a requirement names no version.
    """
    root, required, replaced = _directives(document.text)
    sums = _sums(document.sibling("go.sum") or "")
    items, declared = [], []
    for name, version, line in required:
        target, new = replaced.get((name, version)) or replaced.get((name, "")) or (name, version)
        if not target.startswith((".", "/")):
            declared.append(Declared("golang", target, "", line, pinned=True))
            items.append(_component(target, new or version, sums))
    return Reading(tuple(items), tuple(declared), (root, ""))


def sums(document: Document) -> Reading:
    """The modules whose content go.sum fixes; those that go.mod beside it requires at another version are left out.

    A go.sum keeps the hashes of versions that were looked at and not chosen: go.mod decides.
    """
    known = _sums(document.text)
    text = document.sibling("go.mod")
    chosen: dict[str, str] = {}
    replaced: set[str] = set()
    if text is not None:
        try:
            _, required, replacements = _directives(text)
        except Malformed:
            required, replacements = [], {}  # go.mod's own reader says so
        chosen = {name: version for name, version, _ in required}
        chosen |= {target: version for target, version in replacements.values() if version}
        replaced = {name for name, _ in replacements}
    # go.sum is sorted: of several versions, the last one stays.
    newest = {
        name: version
        for name, version in known
        if chosen.get(name, version) == version and (name not in replaced or name in chosen)
    }
    names = {line.split()[0]: "" for line in document.text.splitlines() if line.strip()}
    return Reading(tuple(_component(name, version, known) for name, version in newest.items()), locked=names)


def _directives(text: str) -> tuple[str, list[tuple[str, str, int]], dict[tuple[str, str], tuple[str, str]]]:
    """(module, [(required, version, line)], {(replaced, version or empty): (by, version or empty)})."""
    root = ""
    required: list[tuple[str, str, int]] = []
    replaced: dict[tuple[str, str], tuple[str, str]] = {}
    for number, verb, rest in _verbs(text):
        if verb == "module":
            root = rest.strip('"')
        elif verb == "require":
            match = _MODULE.match(rest)
            if match is None:
                raise Malformed(f"not a module with a version: {rest[:100]!r}", number)
            required.append((match[1], match[2], number))
        elif verb == "replace":
            match = _REPLACE.match(rest)
            if match is None:
                raise Malformed(f"not a replacement: {rest[:100]!r}", number)
            replaced[match[1], match[2] or ""] = (match[3], match[4] or "")
    return root, required, replaced


def _verbs(text: str) -> Iterator[tuple[int, str, str]]:
    """(line, directive, its argument), blocks in parentheses taken apart."""
    block = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = " ".join(raw.partition("//")[0].split())
        opened = _BLOCK.match(line)
        if opened or line == ")":
            block = opened[1] if opened else ""
            continue
        if line:
            verb, _, rest = (block, "", line) if block else line.partition(" ")
            if verb not in _DIRECTIVES:
                raise Malformed(f"not a directive of go.mod: {line[:100]!r}", number)
            yield number, verb, rest


def _sums(text: str) -> dict[tuple[str, str], str]:
    known = {}
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.split()
        if not parts:
            continue
        if len(parts) != 3:  # noqa: PLR2004 - module, version, hash
            raise Malformed("not a line of go.sum: module, version, hash", number)
        if not parts[1].endswith("/go.mod"):
            known[parts[0], parts[1]] = parts[2]
    return known


def _component(name: str, version: str, sums: dict[tuple[str, str], str]) -> Component:
    digest = sums.get((name, version), "").removeprefix("h1:")
    return component("golang", name, version, hashes=hashes.encoded("sha256", digest))
