"""Reads Rust's Cargo.toml and Cargo.lock."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from swarmgate.config import toml_text
from swarmgate.gates.sbom.model import Declared, Reading, component, needing
from swarmgate.gates.sbom.readers import hashes, machine_toml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.sbom.model import Component, Document

_SECTIONS = ("dependencies", "dev-dependencies", "build-dependencies")
_CRATES_IO = ("registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/")


def manifest(document: Document) -> Reading:
    """What Cargo.toml asks for, for every target; what the workspace or a path gives is the project's own."""
    data = toml_text.loads(document.text)
    declared, items = [], []
    for name, spec in _wanted(data):
        table = spec if isinstance(spec, dict) else {"version": spec}
        crate = str(table.get("package", name))
        if "path" in table or table.get("workspace"):
            continue
        text = str(table.get("version", ""))
        pinned = text.startswith("=") or bool(table.get("rev"))
        declared.append(Declared("cargo", crate, text, document.line_of(name), pinned=pinned))
        items.append(component("cargo", crate, text.lstrip("= ") if pinned else ""))
    package = data.get("package", {})
    version = package.get("version", "")
    return Reading(
        tuple(items), tuple(declared), (package.get("name", ""), version if isinstance(version, str) else "")
    )


def _wanted(data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for table in (data, data.get("workspace", {}), *data.get("target", {}).values()):
        for section in _SECTIONS:
            yield from table.get(section, {}).items()


def lock(document: Document) -> Reading:
    """What Cargo.lock pins. Packages without a source are the project's own: the root, and members without a purl."""
    data = machine_toml.loads(document.text)
    rows = data.get("package", [])
    own = [row for row in rows if "source" not in row]
    main = manifest_name(document.sibling("Cargo.toml"))
    root = next((row for row in own if row["name"] == main), own[0] if len(own) == 1 else {})
    rows = [row for row in rows if row is not root]
    metadata = data.get("metadata", {})
    items = [_component(row, metadata) for row in rows]
    refs: dict[str, str] = {}
    for row, item in zip(rows, items, strict=True):
        for key in (
            row["name"],
            f"{row['name']} {row['version']}",
            f"{row['name']} {row['version']} ({row.get('source')})",
        ):
            refs.setdefault(key, item.ref)
    linked = [
        needing(item, [refs.get(each, "") for each in row.get("dependencies", ())])
        for row, item in zip(rows, items, strict=True)
    ]
    return Reading(tuple(linked), root=(root.get("name", ""), root.get("version", "")))


def manifest_name(text: str | None) -> str:
    """The name of the package that a Cargo.toml describes; empty for a workspace alone, or no TOML."""
    try:
        return str(toml_text.loads(text or "").get("package", {}).get("name", ""))
    except tomllib.TOMLDecodeError:
        return ""  # the manifest's own reader says so


def _component(row: dict[str, Any], metadata: dict[str, str]) -> Component:
    name, version, source = row["name"], row["version"], row.get("source", "")
    checksum = row.get("checksum") or metadata.get(f"checksum {name} {version} ({source})", "")  # lock version 1
    git = source if source.startswith("git+") else ""
    registry = "" if git or source in _CRATES_IO else source.partition("+")[2]
    return component(
        "cargo", name, version, hashes=hashes.plain("sha256", checksum),
        qualifiers=[("vcs_url", git), ("repository_url", registry)], url=git,
        local=not source,
    )  # fmt: skip
