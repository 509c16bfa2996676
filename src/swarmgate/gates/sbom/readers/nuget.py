"""Reads NuGet's packages.lock.json and the package references in *.csproj, *.fsproj, *.vbproj, *.props."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from swarmgate.gates.sbom.model import Declared, Malformed, Reading, component, needing
from swarmgate.gates.sbom.readers import hashes

if TYPE_CHECKING:
    from swarmgate.gates.sbom.model import Document

_OPEN = re.compile(r"[*,()]|\$\(")


def lock(document: Document) -> Reading:
    """The packages of every target framework; projects of the solution are no components."""
    data = json.loads(document.text)
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    edges: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for packages in data["dependencies"].values():
        versions = {name.lower(): row.get("resolved", "") for name, row in packages.items()}
        for name, row in packages.items():
            if row.get("type") == "Project":
                continue
            key = name, row["resolved"]
            rows[key] = row
            wanted = ((each.lower(), versions.get(each.lower(), "")) for each in row.get("dependencies") or {})
            edges.setdefault(key, set()).update(wanted)
    items = {
        (name.lower(), version): component(
            "nuget", name, version, hashes=hashes.encoded("sha512", row.get("contentHash", ""))
        )
        for (name, version), row in rows.items()
    }
    linked = {}
    for (name, version), needs in edges.items():
        item = items[name.lower(), version]
        linked[item.ref] = needing(item, [items[need].ref for need in needs if need in items])
    return Reading(tuple(linked.values()))


def project(document: Document) -> Reading:
    """PackageReference with its version, in the project or in Directory.Packages.props beside it.

    Raises:
        Malformed: it is not XML.
    """
    references = _references(document.text)
    central = {name.lower(): version for tag, name, version, _ in references if tag == "PackageVersion"}
    for folder in ("", "../", "../../"):
        props = document.sibling(f"{folder}Directory.Packages.props")
        for tag, name, version, _ in _references(props) if props else ():
            if tag == "PackageVersion":
                central.setdefault(name.lower(), version)
    items, declared = {}, []
    for tag, name, own, line in references:
        if tag == "PackageVersion":
            continue
        version = own or central.get(name.lower(), "")
        exact = version.strip("[]") if not _OPEN.search(version) else ""
        item = component("nuget", name, exact)
        items[item.ref] = item
        declared.append(Declared("nuget", name.lower(), version, line, pinned=bool(exact)))
    return Reading(tuple(items.values()), tuple(declared))


def _references(text: str) -> list[tuple[str, str, str, int]]:
    """(tag, name, version, line) of each reference; a version may be an attribute or an element."""
    found: list[tuple[str, str, str, int]] = []
    parser = expat.ParserCreate(namespace_separator=" ")
    path: list[str] = []
    words: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(" ")[2]
        path.append(name)
        words.clear()
        package = attributes.get("Include") or attributes.get("Update", "")
        if name in {"PackageReference", "PackageVersion"} and package:
            version = attributes.get("VersionOverride") or attributes.get("Version", "")
            found.append((name, package, version, parser.CurrentLineNumber))

    def end(_: str) -> None:
        if path[-1] == "Version" and len(path) > 1 and path[-2] in {"PackageReference", "PackageVersion"} and found:
            tag, package, _version, line = found[-1]
            found[-1] = tag, package, "".join(words).strip(), line
        path.pop()

    def refuse(*_: object) -> None:
        raise Malformed("it declares XML entities, which a project needs not", parser.CurrentLineNumber)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.EntityDeclHandler = words.append, refuse
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise Malformed(f"not valid XML: {expat.errors.messages[error.code]}", error.lineno) from error
    return found
