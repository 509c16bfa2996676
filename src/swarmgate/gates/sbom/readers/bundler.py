"""Reads Ruby's Gemfile and Gemfile.lock (gems.rb, gems.locked)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from swarmgate.gates.sbom.model import Component, Declared, Malformed, Reading, component, needing
from swarmgate.gates.sbom.readers import hashes

if TYPE_CHECKING:
    from swarmgate.gates.sbom.model import Document

_GEM = re.compile(r"""^\s*gem[\s(]+['"]([^'"]+)['"](?:\s*,\s*['"]([^'"]+)['"])?(.*)$""")
_SECTION = re.compile(r"^[A-Z][A-Z ]*$")
_FIELD = re.compile(r"^  (\w+): (.*)$")
_SPEC = re.compile(r"^    ([^\s(]+) \(([^)]+)\)$")
_NEED = re.compile(r"^      ([^\s(!]+)(?: \(.*\))?!?$")
_CHECKSUM = re.compile(r"^  ([^\s(]+) \(([^)]+)\)(?: (sha256)=([0-9a-f]+))?")
_PLATFORM = re.compile(r"^(\d[\w.]*?)-([a-z].*)$")
_EXACT = re.compile(r"^=?\s*\d[\w.]*$")


def manifest(document: Document) -> Reading:
    """The `gem` lines that name a gem in so many words; a Gemfile is a program, and is not run."""
    items, declared = [], []
    for number, line in enumerate(document.text.splitlines(), 1):
        match = _GEM.match(line)
        if match is None:
            continue
        spec, rest = match[2] or "", match[3]
        pinned = bool(_EXACT.match(spec)) or bool(re.search(r"\b(?:path|ref|tag)(?::|\s*=>)", rest))
        marked = bool(re.search(r"\b(?:platforms?|install_if)(?::|\s*=>)", rest))
        items.append(component("gem", match[1], spec.lstrip("= ") if _EXACT.match(spec) else ""))
        declared.append(Declared("gem", match[1], spec, number, pinned=pinned, marked=marked))
    return Reading(tuple(items), tuple(declared))


def lock(document: Document) -> Reading:
    """The gems of every section; those of PATH sections are the project's own, and have no purl.

    Raises:
        Malformed: it has no section of gems, or a line of one is not of the format.
    """
    section, remote, revision = "", "", ""
    found: list[tuple[Component, list[str]]] = []
    sums: dict[tuple[str, str], list[hashes.Hash]] = {}
    for number, line in enumerate(document.text.splitlines(), 1):
        if _SECTION.match(line):
            section, remote, revision = line, "", ""
        elif section == "CHECKSUMS" and (match := _CHECKSUM.match(line)):
            sums[match[1], match[2]] = hashes.plain(match[3] or "", match[4] or "")
        elif section not in {"GEM", "GIT", "PATH", "PLUGIN SOURCE"} or not line.strip():
            continue
        elif match := _FIELD.match(line):
            remote = match[2] if match[1] == "remote" else remote
            revision = match[2] if match[1] == "revision" else revision
        elif match := _SPEC.match(line):
            found.append((_component(match[1], match[2], section, remote, revision), []))
        elif match := _NEED.match(line):
            found[-1][1].append(match[1])
        elif line.strip() != "specs:":
            raise Malformed(f"not a line of Gemfile.lock: {line[:100]!r}", number)
    if not section:
        raise Malformed("no section of gems in it", 1)
    return Reading(tuple(_linked(found, sums)))


def _component(name: str, locked: str, section: str, remote: str, revision: str) -> Component:
    by_platform = _PLATFORM.match(locked)
    version, platform = by_platform.groups() if by_platform else (locked, "")
    git = f"git+{remote}@{revision}" if section == "GIT" else ""
    private = remote.rstrip("/") if section == "GEM" and "://rubygems.org" not in remote else ""
    return component(
        "gem", name, version, qualifiers=[("platform", platform), ("vcs_url", git), ("repository_url", private)],
        url=git, local=section == "PATH",
    )  # fmt: skip


def _linked(
    found: list[tuple[Component, list[str]]], sums: dict[tuple[str, str], list[hashes.Hash]]
) -> list[Component]:
    refs: dict[str, list[str]] = {}
    for item, _ in found:
        refs.setdefault(item.name, []).append(item.ref)
    return [
        needing(_with_sum(item, sums), [ref for name in needs for ref in refs.get(name, ())]) for item, needs in found
    ]


def _with_sum(item: Component, sums: dict[tuple[str, str], list[hashes.Hash]]) -> Component:
    """The component with the checksum of its section (Bundler 2.5 and later)."""
    platform = re.search(r"[?&]platform=([^&]+)", item.purl)
    digests = sums.get((item.name, f"{item.version}-{platform[1]}" if platform else item.version), [])
    return replace(item, hashes=tuple(digests))
