"""Reads PHP's composer.json and composer.lock."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from swarmgate.gates.sbom.model import Declared, Reading, component, needing
from swarmgate.gates.sbom.readers import hashes
from swarmgate.gates.sbom.readers.requirements import redacted

if TYPE_CHECKING:
    from swarmgate.gates.sbom.model import Component, Document

_EXACT = re.compile(r"^=?v?\d+(?:\.\d+){1,3}$")


def manifest(document: Document) -> Reading:
    """`require` and `require-dev`; the platform (php, ext-*, lib-*) is none of the components."""
    data = json.loads(document.text)
    wanted = {**(data.get("require") or {}), **(data.get("require-dev") or {})}
    packages = {name: spec for name, spec in wanted.items() if "/" in name}
    declared = tuple(
        Declared("composer", name.lower(), spec, document.line_of(f'"{name}"', ":"), pinned=bool(_EXACT.match(spec)))
        for name, spec in packages.items()
    )
    items = tuple(
        component("composer", name, spec.lstrip("=v") if _EXACT.match(spec) else "") for name, spec in packages.items()
    )
    return Reading(items, declared, (data.get("name", ""), data.get("version", "")))


def lock(document: Document) -> Reading:
    """`packages` and `packages-dev`, with edges by name and by what a package says it replaces or provides."""
    data = json.loads(document.text)
    rows = [*data["packages"], *(data.get("packages-dev") or ())]
    items = [_component(row) for row in rows]
    refs = {row["name"].lower(): item.ref for row, item in zip(rows, items, strict=True)}
    for row, item in zip(rows, items, strict=True):
        for key in ("replace", "provide"):
            for name in row.get(key) or {}:
                refs.setdefault(name.lower(), item.ref)
    linked = [
        needing(item, [refs.get(name.lower(), "") for name in row.get("require") or {}])
        for row, item in zip(rows, items, strict=True)
    ]
    return Reading(tuple(linked), locked=dict.fromkeys(refs, ""))


def _component(row: dict[str, Any]) -> Component:
    dist = row.get("dist") or {}
    url = redacted(dist.get("url") or (row.get("source") or {}).get("url") or "")
    return component(
        "composer", row["name"], row["version"], hashes=hashes.plain("sha1", dist.get("shasum") or ""),
        url="" if dist.get("type") == "path" else url, local=dist.get("type") == "path",
    )  # fmt: skip
