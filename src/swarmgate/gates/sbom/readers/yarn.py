"""Reads yarn.lock: the classic format of Yarn 1, and the YAML of Yarn 2 and later ("berry")."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from swarmgate.gates.sbom.model import Component, Malformed, Reading, component, needing
from swarmgate.gates.sbom.readers import hashes, machine_yaml
from swarmgate.gates.sbom.readers.requirements import redacted

if TYPE_CHECKING:
    from swarmgate.gates.sbom.model import Document

_FIELD = re.compile(r'^  ("[^"]+"|[^\s"]+)(?: (.+))?$')
_INNER = re.compile(r'^    ("[^"]+"|[^\s"]+) (.+)$')
_DESCRIPTOR = re.compile(r"^(@?[^@]+)@(.*)$")
_OWN = ("workspace:", "link:", "portal:", "file:")


def read(document: Document) -> Reading:
    """What yarn.lock pins, in either format.

    Raises:
        Malformed: a line is not of the format.
    """
    if re.search(r"^__metadata:", document.text, re.MULTILINE):
        return _berry(machine_yaml.loads(document.text))
    return _built(_classic(document.text))


def _classic(text: str) -> list[tuple[list[str], dict[str, Any]]]:
    entries: list[tuple[list[str], dict[str, Any]]] = []
    section: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] != " ":
            if not line.endswith(":"):
                raise Malformed("not a line of yarn.lock: an entry ends in a colon", number)
            entries.append(([part.strip().strip('"') for part in line[:-1].split(",")], {}))
            continue
        inner, field = _INNER.match(line), _FIELD.match(line)
        if not entries or not (inner or field):
            raise Malformed("not a line of yarn.lock", number)
        if inner:
            section[inner[1].strip('"')] = inner[2].strip('"')
        elif field:
            key, value = field[1].rstrip(":"), field[2]
            section = section if value else entries[-1][1].setdefault(key, {})
            if value:
                entries[-1][1][key] = value.strip('"')
    return entries


def _built(entries: list[tuple[list[str], dict[str, Any]]]) -> Reading:
    items = [_classic_component(descriptors, row) for descriptors, row in entries]
    by_descriptor = {
        descriptor: item.ref
        for (descriptors, _), item in zip(entries, items, strict=True)
        for descriptor in descriptors
    }
    linked = []
    for (_, row), item in zip(entries, items, strict=True):
        needs = {**row.get("dependencies", {}), **row.get("optionalDependencies", {})}
        refs = [by_descriptor.get(f"{name}@{spec}", "") for name, spec in needs.items()]
        linked.append(needing(item, refs))
    return Reading(_unique(linked), locked=_specs(by_descriptor))


def _classic_component(descriptors: list[str], row: dict[str, Any]) -> Component:
    name, spec = _split(descriptors[0])
    if spec.startswith("npm:"):
        name = _split(spec.removeprefix("npm:"))[0]
    resolved, _, fragment = redacted(row.get("resolved", "")).partition("#")
    git = resolved if resolved.startswith("git") or resolved.endswith(".git") else ""
    away = bool(resolved) and not git and "registry." not in resolved and "/-/" not in resolved
    outside = resolved if away else ""
    digests = hashes.integrity(row.get("integrity", "")) or hashes.plain("sha1", fragment)
    return component(
        "npm", name, row["version"], hashes=digests,
        qualifiers=[("vcs_url", f"{git}#{fragment}" if git else ""), ("download_url", outside)], url=git or outside,
    )  # fmt: skip


def _berry(data: dict[str, Any]) -> Reading:
    rows = {key: row for key, row in data.items() if key != "__metadata"}
    items: dict[str, Component] = {}
    by_descriptor: dict[str, str] = {}
    for key, row in rows.items():
        name, place = _split(row["resolution"])
        if place == "workspace:.":
            continue
        own = place.startswith(_OWN)
        items[key] = component("npm", name, local=True) if own else _berry_component(name, place, row)
        for descriptor in key.split(", "):
            by_descriptor[descriptor] = items[key].ref
    linked = []
    for key, item in items.items():
        needs = {**(rows[key].get("dependencies") or {})}
        linked.append(needing(item, [_berry_ref(by_descriptor, name, str(spec)) for name, spec in needs.items()]))
    top = [row for row in rows.values() if row["resolution"].endswith("@workspace:.")]
    root = (_split(top[0]["resolution"])[0], "") if top else ("", "")
    return Reading(_unique(linked), root=root, locked=_specs(by_descriptor))


def _berry_ref(known: dict[str, str], name: str, spec: str) -> str:
    return known.get(f"{name}@{spec}") or known.get(f"{name}@npm:{spec}", "")


def _berry_component(name: str, place: str, row: dict[str, Any]) -> Component:
    if place.startswith("patch:"):  # patch:name@npm%3A1.0.0#...: the package that is patched
        name, place = _split(place.removeprefix("patch:").partition("#")[0].replace("%3A", ":"))
    outside = "" if place.startswith("npm:") else redacted(place)
    digest = str(row.get("checksum", "")).rpartition("/")[2]
    kind = "vcs_url" if ".git" in outside or outside.startswith("git") else "download_url"
    # Yarn's checksum is of the archive that it packs anew itself; it is not the registry's.
    return component(
        "npm",
        name,
        str(row["version"]),
        hashes=hashes.plain("sha512", digest),
        qualifiers=[(kind, outside)],
        url=outside,
    )


def _specs(by_descriptor: dict[str, str]) -> dict[str, str]:
    specs: dict[str, str] = {}
    for descriptor in by_descriptor:
        name, spec = _split(descriptor)
        specs[name] = f"{specs[name]}\n{spec.removeprefix('npm:')}" if name in specs else spec.removeprefix("npm:")
    return specs


def _split(descriptor: str) -> tuple[str, str]:
    match = _DESCRIPTOR.match(descriptor)
    if match is None:
        raise Malformed(f"not a name with a version: {descriptor[:100]!r}")
    return match[1], match[2]


def _unique(items: list[Component]) -> tuple[Component, ...]:
    return tuple({item.ref: item for item in items}.values())
