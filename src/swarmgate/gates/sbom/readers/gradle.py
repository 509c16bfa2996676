"""Reads gradle.lockfile and buildscript-gradle.lockfile: `group:artifact:version=configurations`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.gates.sbom.model import Malformed, Reading, component

if TYPE_CHECKING:
    from swarmgate.gates.sbom.model import Document


def read(document: Document) -> Reading:
    """The locked modules.

    Raises:
        Malformed: a line is not of the format.
    """
    items = []
    for number, raw in enumerate(document.text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith(("#", "empty=")):
            continue
        parts = line.partition("=")[0].split(":")
        if len(parts) != 3 or not all(parts):  # noqa: PLR2004 - group, artifact, version
            raise Malformed(f"not group:artifact:version: {line[:100]!r}", number)
        items.append(component("maven", f"{parts[0]}:{parts[1]}", parts[2]))
    return Reading(tuple({item.ref: item for item in items}.values()))
