"""Reads pnpm-lock.yaml of lock versions 5, 6 and 9."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from swarmgate.gates.sbom.model import Reading, component, needing
from swarmgate.gates.sbom.readers import hashes, machine_yaml
from swarmgate.gates.sbom.readers.npm import SECTIONS
from swarmgate.gates.sbom.readers.requirements import redacted

if TYPE_CHECKING:
    from swarmgate.gates.sbom.model import Component, Document

_NAMED = re.compile(r"^/?(@[^/@]+/[^/@]+|[^/@]+)@(.+)$")
_V5 = re.compile(r"^/(@[^/]+/[^/]+|[^/]+)/([^/_]+)")
_OWN = ("link:", "workspace:", "file:")


def read(document: Document) -> Reading:
    """What pnpm-lock.yaml pins. Versions that differ in their peers only are one component."""
    data = machine_yaml.loads(document.text)
    packages = data.get("packages") or {}
    snapshots = data.get("snapshots") or {}
    items: dict[str, Component] = {}
    for key, row in packages.items():
        if not _is_own(key, row):
            item = _component(key, row or {})
            items.setdefault(_plain(key), item)
    edges: dict[str, set[str]] = {}
    for key, row in {**packages, **snapshots}.items():
        known = items.get(_plain(key))
        if known is not None:
            edges.setdefault(known.ref, set()).update(_needs(row or {}, items))
    found = {item.ref: needing(item, edges.get(item.ref, ())) for item in items.values()}
    return Reading(tuple(found.values()), locked=_specs(data), members=frozenset(data.get("importers") or ()))


def _needs(row: dict[str, Any], items: dict[str, Component]) -> list[str]:
    wanted = {**(row.get("dependencies") or {}), **(row.get("optionalDependencies") or {})}
    refs = []
    for name, version in wanted.items():
        # v9: name@version; v6: /name@version; v5: /name/version; an alias holds the whole key.
        for key in (f"{name}@{version}", f"/{name}@{version}", f"/{name}/{version}", str(version)):
            item = items.get(_plain(key))
            if item is not None:
                refs.append(item.ref)
                break
    return refs


def _component(key: str, row: dict[str, Any]) -> Component:
    resolution = row.get("resolution") or {}
    old, named = _V5.match(key), _NAMED.match(_plain(key))
    name, version = old.groups() if old and "@" not in key.removeprefix("/@") else ("", "")
    if not name and named:
        name, version = named.groups()
    outside = "://" in version or not name
    tarball, repo = redacted(str(resolution.get("tarball", ""))), redacted(str(resolution.get("repo", "")))
    name, version = str(row.get("name") or name or key), str(row.get("version") or ("" if outside else version))
    vcs = f"git+{repo}@{resolution.get('commit', '')}" if repo else ""
    away = tarball if "registry." not in tarball and "/-/" not in tarball else ""
    return component(
        "npm", name, version, hashes=hashes.integrity(str(resolution.get("integrity", ""))),
        qualifiers=[("vcs_url", vcs), ("download_url", away)], url=vcs or away,
    )  # fmt: skip


def _plain(key: str) -> str:
    """The key without the peers that stand behind it in parentheses."""
    return key.partition("(")[0]


def _is_own(key: str, row: Any) -> bool:
    directory = isinstance(row, dict) and (row.get("resolution") or {}).get("type") == "directory"
    return directory or key.startswith(_OWN) or "@link:" in key


def _specs(data: dict[str, Any]) -> dict[str, str]:
    top = (data.get("importers") or {}).get(".") or data
    if isinstance(top.get("specifiers"), dict):
        return {name: str(spec) for name, spec in top["specifiers"].items()}
    rows = {name: row for section in SECTIONS for name, row in (top.get(section) or {}).items()}
    return {name: str(row.get("specifier", "")) for name, row in rows.items() if isinstance(row, dict)}
