"""Renders the components of a project as a reproducible CycloneDX JSON document (ECMA-424)."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from swarmgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from swarmgate.gates.sbom.model import Component

SPECIFICATIONS = ("1.6", "1.7")
_ROOT = "root-component"
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://cyclonedx.org/swarmgate")


def render(
    components: Sequence[Component],
    *,
    root: tuple[str, str],
    declared: Container[tuple[str, str]] = (),
    spec: str = "1.6",
    timestamp: str = "",
    serial: str = "",
    unreadable: Sequence[str] = (),
) -> bytes:
    """The document.

    Args:
        components: sorted and without repetition by `ref`.
        root: name and version (or empty) of the project itself.
        declared: keys of components that the project itself asks for.
        spec: a member of `SPECIFICATIONS`.
        timestamp: RFC 3339; empty leaves it out, so that the document depends on the tree alone.
        serial: a URN `urn:uuid:...`; empty derives it from the content.
        unreadable: files that are missing in it; they make the document say that it is incomplete.

    Raises:
        ValueError: an unknown `spec`.
    """
    if spec not in SPECIFICATIONS:
        raise ValueError(f"CycloneDX {spec} is not written here: {', '.join(SPECIFICATIONS)}")
    known = {each.ref for each in components}
    name, version = root
    main: dict[str, Any] = {"bom-ref": _ROOT, "type": "application", "name": name}
    if version:
        main["version"] = version
    metadata: dict[str, Any] = {"timestamp": timestamp} if timestamp else {}
    tool = {"type": "application", "name": "swarmgate", "version": __version__}
    metadata |= {"tools": {"components": [tool]}, "component": main}
    document: dict[str, Any] = {
        "$schema": f"http://cyclonedx.org/schema/bom-{spec}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": spec,
        "serialNumber": serial,
        "version": 1,
        "metadata": metadata,
        "components": [_component(each) for each in components],
        "dependencies": _dependencies(components, known, declared),
    }
    if unreadable:
        document["compositions"] = [{"aggregate": "incomplete", "assemblies": [_ROOT]}]
        metadata["properties"] = [{"name": "swarmgate:unreadable", "value": each} for each in unreadable]
    if not serial:
        document["serialNumber"] = f"urn:uuid:{uuid.uuid5(_NAMESPACE, json.dumps(document))}"
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _component(each: Component) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "library", "bom-ref": each.ref}
    group, _, name = each.name.rpartition(":" if each.type == "maven" else "/")
    if group and each.type != "golang":
        entry["group"] = group
    entry["name"] = name if "group" in entry else each.name
    if each.version:
        entry["version"] = each.version
    if each.hashes:
        entry["hashes"] = [{"alg": algorithm, "content": digest} for algorithm, digest in each.hashes]
    if each.purl:
        entry["purl"] = each.purl
    if each.url:
        kind = "vcs" if each.url.partition(":")[0].partition("+")[0] in {"git", "hg", "svn", "bzr"} else "distribution"
        entry["externalReferences"] = [{"type": kind, "url": quote(each.url, safe="/:?#[]@!$&'()*+,;=%~-._")}]
    if each.origin:
        entry["properties"] = [{"name": "swarmgate:origin", "value": each.origin}]
    return entry


def _dependencies(
    components: Sequence[Component], known: set[str], declared: Container[tuple[str, str]]
) -> list[dict[str, Any]]:
    """The root needs what it asks for, and what nothing else needs; what is not among the components is left out.

    Of a name that is there in several versions it is not known which one it asks for: there the second rule holds.
    """
    edges = {each.ref: [ref for ref in each.depends if ref in known and ref != each.ref] for each in components}
    needed = {ref for refs in edges.values() for ref in refs}
    single = {key for key, count in Counter(each.key for each in components).items() if count == 1 and key in declared}
    top = [each.ref for each in components if each.ref not in needed or each.key in single]
    rows = [(_ROOT, top), *edges.items()]
    return [{"ref": ref, "dependsOn": refs} if refs else {"ref": ref} for ref, refs in rows]
