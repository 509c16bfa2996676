"""Reads poetry.lock of every lock version: what `poetry install` installs, and what else is locked."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from swarmgate.config import toml_text
from swarmgate.gates.sbom.model import Reading, component, needing, normal
from swarmgate.gates.sbom.readers import hashes, machine_toml
from swarmgate.gates.sbom.readers.pyproject import poetry_dependencies
from swarmgate.gates.sbom.readers.python_locks import Refs
from swarmgate.gates.sbom.readers.requirements import redacted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from swarmgate.gates.sbom.model import Component, Document

    Wish = tuple[str, frozenset[str]]
    """A package's normalised name, and which of its extras are wanted."""

_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?")
_PYPI = "://pypi.org/"


def read(document: Document) -> Reading:
    """The locked packages; `installed` tells those that a plain `poetry install` brings.

    Without a pyproject.toml beside it that names dependencies, every package counts as installed.
    """
    data = machine_toml.loads(document.text)
    rows = data.get("package", [])
    files = data.get("metadata", {}).get("files", {})
    items = [_component(row, files) for row in rows]
    refs = Refs(items)
    by_name: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        by_name.setdefault(normal("pypi", row["name"]), []).append(index)
    reached = _reached(rows, by_name, _wishes(document.sibling("pyproject.toml")))
    linked = []
    for index, (row, item) in enumerate(zip(rows, items, strict=True)):
        # Optional ones stand in for an extra of the package: they are edges where the extra brought them.
        needs = [name for name, spec in row.get("dependencies", {}).items() if not _optional(spec)]
        extras = (reached or {}).get(index, frozenset())
        needs += [name for extra, texts in _extras(row) if extra in extras for name, _ in map(_wish, texts)]
        whole = needing(item, [ref for name in needs for ref in refs.find(name)])
        linked.append(whole if reached is None or index in reached else replace(whole, installed=False))
    return Reading(tuple(linked))


def _component(row: dict[str, Any], files: dict[str, Any]) -> Component:
    source = row.get("source", {})
    kind, url = source.get("type", ""), redacted(source.get("url", ""))
    revision = source.get("resolved_reference", source.get("reference", ""))
    vcs = f"git+{url}@{revision}" if kind == "git" else ""
    qualifiers = [
        ("vcs_url", vcs),
        ("download_url", url if kind == "url" and "://files.pythonhosted.org/" not in url else ""),
        ("repository_url", url if kind == "legacy" and _PYPI not in url else ""),
    ]
    artefacts = row.get("files") or files.get(row["name"], ())
    digests = [digest for file in artefacts for digest in hashes.labelled(file.get("hash", ""))]
    return component(
        "pypi", row["name"], row["version"], hashes=digests, qualifiers=qualifiers,
        url=vcs or (url if kind in {"url", "file", "directory"} else ""), local=kind in {"file", "directory"},
    )  # fmt: skip


def _wishes(pyproject: str | None) -> list[Wish] | None:
    """What the project itself asks for in a plain install; None when that is not known."""
    try:
        data = toml_text.loads(pyproject or "")
    except tomllib.TOMLDecodeError:
        return None  # the manifest's own reader says so
    poetry = toml_text.table(data, "tool", "poetry")
    groups = toml_text.table(poetry, "group")
    wanted = [
        (normal("pypi", name), _specs(spec))
        for group, name, spec in poetry_dependencies(poetry)
        if not toml_text.table(groups, group).get("optional")
    ]
    wishes = [
        (name, frozenset(normal("pypi", extra) for spec in specs for extra in spec.get("extras", ())))
        for name, specs in wanted
        if not all(map(_optional, specs))
    ]
    wishes += [_wish(text) for text in toml_text.table(data, "project").get("dependencies", ())]
    for name, group in toml_text.table(data, "dependency-groups").items():
        if not toml_text.table(groups, name).get("optional"):
            wishes += [_wish(text) for text in group if isinstance(text, str)]
    return wishes or None


def _reached(
    rows: list[dict[str, Any]], by_name: dict[str, list[int]], wishes: list[Wish] | None
) -> dict[int, frozenset[str]] | None:
    """The rows that the wishes lead to, with the extras wanted of each; None without wishes."""
    if wishes is None:
        return None
    reached: dict[int, frozenset[str]] = {}
    todo = list(wishes)
    while todo:
        name, extras = todo.pop()
        for index in by_name.get(name, ()):
            known = reached.get(index)
            if known is not None and extras <= known:
                continue
            reached[index] = extras | (known or frozenset())
            todo += _next(rows[index], extras, first=known is None)
    return reached


def _next(row: dict[str, Any], extras: frozenset[str], *, first: bool) -> Iterator[Wish]:
    if first:
        for name, spec in row.get("dependencies", {}).items():
            specs = _specs(spec)
            if not all(map(_optional, specs)):
                wanted = (normal("pypi", extra) for each in specs for extra in each.get("extras", ()))
                yield normal("pypi", name), frozenset(wanted)
    for extra, texts in _extras(row):
        if extra in extras:
            yield from map(_wish, texts)


def _extras(row: dict[str, Any]) -> Iterable[tuple[str, list[str]]]:
    return ((normal("pypi", name), texts) for name, texts in row.get("extras", {}).items())


def _wish(text: str) -> Wish:
    match = _REQUIREMENT.match(text)
    if match is None:
        return "", frozenset()
    extras = frozenset(normal("pypi", extra.strip()) for extra in (match[2] or "").split(",") if extra.strip())
    return normal("pypi", match[1]), extras


def _specs(spec: Any) -> list[dict[str, Any]]:
    rows = spec if isinstance(spec, list) else [spec]
    return [row if isinstance(row, dict) else {"version": row} for row in rows]


def _optional(spec: Any) -> bool:
    return all(each.get("optional") for each in _specs(spec))
