"""Reads npm's package.json and package-lock.json / npm-shrinkwrap.json of lock versions 1, 2 and 3."""

from __future__ import annotations

import json
import posixpath
import re
from typing import TYPE_CHECKING, Any

from swarmgate.gates.sbom.model import Component, Declared, Reading, component, needing
from swarmgate.gates.sbom.readers import hashes
from swarmgate.gates.sbom.readers.requirements import redacted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.sbom.model import Document

SECTIONS = ("dependencies", "devDependencies", "optionalDependencies")
_NEEDS = (*SECTIONS, "peerDependencies")
_EXACT = re.compile(r"^=?v?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$")
_MODULES = "node_modules/"


def manifest(document: Document) -> Reading:
    """What package.json asks for: dependencies, devDependencies and optionalDependencies."""
    data = json.loads(document.text)
    wanted = [(name, str(spec)) for section in SECTIONS for name, spec in data.get(section, {}).items()]
    # What `resolutions` replaces stands in the lock under another specification.
    complete = "resolutions" not in data
    declared = tuple(
        Declared("npm", name, spec if complete else "", document.line_of(f'"{name}"', ":"), pinned=is_exact(spec))
        for name, spec in wanted
    )
    items = tuple(component("npm", name, spec.lstrip("=v") if _EXACT.match(spec) else "") for name, spec in wanted)
    return Reading(items, declared, (str(data.get("name", "")), str(data.get("version", ""))))


def is_exact(spec: str) -> bool:
    """Whether a specification names one version, or something else than the registry (path, workspace, URL)."""
    return bool(_EXACT.match(spec)) or spec.startswith(("file:", "link:", "workspace:", "portal:", "npm:", "patch:"))


def lock(document: Document) -> Reading:
    """What package-lock.json pins. A workspace is a component without a purl; a link to it is not another one."""
    data = json.loads(document.text)
    root = (str(data.get("name", "")), str(data.get("version", "")))
    packages = data.get("packages")
    if packages is None:
        return Reading(tuple(_merged(list(_nested(data.get("dependencies", {}), [])))), root=root)
    top = packages.get("", {})
    locked = {name: str(spec) for section in SECTIONS for name, spec in top.get(section, {}).items()}
    return Reading(tuple(_merged(_flat(packages))), root=root, locked=locked)


def _flat(packages: dict[str, dict[str, Any]]) -> list[Component]:
    refs: dict[str, str] = {}
    links: dict[str, str] = {}
    items: list[tuple[str, dict[str, Any], Component]] = []
    for place, row in packages.items():
        if not place:
            continue  # the project itself
        if row.get("link"):
            links[place] = str(row.get("resolved", ""))
            continue
        name = row.get("name") or place.rpartition(_MODULES)[2]
        own = _MODULES not in place
        item = (
            component("npm", name, row.get("version", ""), local=True)
            if own
            else _component(name, row.get("version", ""), row)
        )
        refs[place] = item.ref
        items.append((place, row, item))
    return [
        _with_needs(item, {dep for key in _NEEDS for dep in row.get(key, ())}, place, refs)
        for place, row, item in items
    ]


def _with_needs(item: Component, names: set[str], place: str, refs: dict[str, str]) -> Component:
    """Node's own search: beside the package, then in each folder above."""
    found = []
    for name in names:
        folder = place
        while True:
            candidate = f"{folder}/{_MODULES}{name}" if folder else _MODULES + name
            if candidate in refs:
                found.append(refs[candidate])
                break
            if not folder:
                break
            folder = folder.rpartition(_MODULES)[0].rstrip("/") if _MODULES in folder else posixpath.dirname(folder)
    return needing(item, found)


def _nested(rows: dict[str, dict[str, Any]], above: list[dict[str, str]]) -> Iterator[Component]:
    """Lock version 1: what a package brings along stands inside it."""
    items = {name: _v1(name, row) for name, row in rows.items()}
    scope = [*above, {name: item.ref for name, item in items.items()}]
    for name, row in rows.items():
        inner = row.get("dependencies", {})
        own = {each: _v1(each, below).ref for each, below in inner.items()}
        found = []
        for need in row.get("requires") or {} if isinstance(row.get("requires"), dict) else {}:
            for level in (own, *reversed(scope)):
                if need in level:
                    found.append(level[need])
                    break
        if not str(row.get("version", "")).startswith("file:") or row.get("resolved"):
            yield needing(items[name], found)
        yield from _nested(inner, scope)


def _v1(name: str, row: dict[str, Any]) -> Component:
    version = str(row.get("version", ""))
    alias, _, rest = version.removeprefix("npm:").rpartition("@")
    if version.startswith("npm:") and alias:
        return _component(alias, rest, row)
    if "://" in version or version.startswith(("git", "github:")):
        return _component(name, "", {**row, "resolved": version})
    return _component(name, version, row)


def _component(name: str, version: str, row: dict[str, Any]) -> Component:
    resolved = redacted(str(row.get("resolved") or ""))
    git = resolved if resolved.startswith(("git+", "git:", "github:")) else ""
    outside = resolved if resolved.startswith("http") and "registry." not in resolved and "/-/" not in resolved else ""
    return component(
        "npm", name, version, hashes=hashes.integrity(str(row.get("integrity") or "")),
        qualifiers=[("vcs_url", git), ("download_url", outside)], url=git or outside,
    )  # fmt: skip


def _merged(items: list[Component]) -> list[Component]:
    """One component a ref: the same version at several places is one package."""
    found: dict[str, Component] = {}
    for item in items:
        before = found.get(item.ref)
        found[item.ref] = needing(item, [*item.depends, *before.depends]) if before else item
    return list(found.values())
