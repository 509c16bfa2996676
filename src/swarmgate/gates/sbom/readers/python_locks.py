"""Reads uv.lock, pdm.lock, pylock.toml (PEP 751) and Pipfile.lock."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from swarmgate.gates.sbom.model import Component, Reading, component, needing, normal
from swarmgate.gates.sbom.readers import hashes, machine_toml
from swarmgate.gates.sbom.readers.requirements import pin, redacted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from swarmgate.gates.sbom.model import Document

_NAME = re.compile(r"^[A-Za-z0-9._-]+")
_VCS = ("git", "hg", "svn", "bzr")
_PYPI = "://pypi.org/"
_UV_OWN = ("editable", "virtual", "directory")


def uv(document: Document) -> Reading:
    """uv.lock. The package in the lock's own folder is the root; other members of a workspace have no purl."""
    data = machine_toml.loads(document.text)
    rows = data.get("package", [])
    root: dict[str, Any] = next(
        (row for row in rows if "." in (row.get("source", {}).get(kind) for kind in _UV_OWN)), {}
    )
    rows = [row for row in rows if row is not root]
    items = [_uv_component(row) for row in rows]
    return Reading(
        tuple(Refs(items).linked(items, [_uv_needs(row) for row in rows])),
        root=(root.get("name", ""), root.get("version", "")),
    )


def pdm(document: Document) -> Reading:
    """pdm.lock, which lists a package once more for each set of its extras."""
    data = machine_toml.loads(document.text)
    found: dict[str, tuple[Component, list[tuple[str, str]]]] = {}
    for row in data.get("package", []):
        item = _pdm_component(row)
        needs = [(match[0], "") for each in row.get("dependencies", ()) if (match := _NAME.match(each))]
        first, before = found.get(item.ref, (item, []))
        found[item.ref] = first, before + needs
    items = [item for item, _ in found.values()]
    return Reading(tuple(Refs(items).linked(items, [needs for _, needs in found.values()])))


def pylock(document: Document) -> Reading:
    """pylock.toml: `packages` with wheels, sdist, archive, vcs or directory."""
    data = machine_toml.loads(document.text)
    rows = data.get("packages", [])
    items = [_pylock_component(row) for row in rows]
    needs = [[(each["name"], each.get("version", "")) for each in row.get("dependencies", ())] for row in rows]
    return Reading(tuple(Refs(items).linked(items, needs)))


def pipenv(document: Document) -> Reading:
    """Pipfile.lock; only `default` is what a plain `pipenv install` brings."""
    data = json.loads(document.text)
    indexes = {each["name"]: redacted(each["url"]).rstrip("/") for each in data["_meta"].get("sources", ())}
    found: dict[str, Component] = {}
    for group in sorted((name for name in data if name != "_meta"), key=lambda name: name != "default"):
        for name, row in data[group].items():
            item = _pipenv_component(name, row, indexes, installed=group == "default")
            found.setdefault(normal("pypi", name), item)
    return Reading(tuple(found.values()))


class Refs:
    """Finds components by name, and by version where a lock holds several of one name."""

    def __init__(self, items: Iterable[Component]) -> None:
        self._by_name: dict[str, list[Component]] = {}
        for item in items:
            self._by_name.setdefault(normal(item.type, item.name), []).append(item)

    def find(self, name: str, version: str = "", type_: str = "pypi") -> list[str]:
        """The refs of the components of that name; of that version, if one is given and is there."""
        known = self._by_name.get(normal(type_, name), ())
        exact = [each.ref for each in known if each.version == version]
        return exact or [each.ref for each in known]

    def linked(self, items: Sequence[Component], needs: Sequence[Iterable[tuple[str, str]]]) -> list[Component]:
        """The components with their `depends`, from the names and versions that each needs."""
        return [
            needing(item, [ref for name, version in wanted for ref in self.find(name, version, item.type)])
            for item, wanted in zip(items, needs, strict=True)
        ]


def _digests(rows: Iterable[dict[str, Any]]) -> list[hashes.Hash]:
    return [digest for row in rows for digest in hashes.labelled(row.get("hash", ""))]


def _uv_component(row: dict[str, Any]) -> Component:
    source = row.get("source", {})
    files = [*row.get("wheels", ()), *([row["sdist"]] if "sdist" in row else [])]
    git, url, index = source.get("git", ""), source.get("url", ""), source.get("registry", "")
    qualifiers = [
        ("vcs_url", f"git+{redacted(git)}" if git else ""),
        ("download_url", redacted(url)),
        ("repository_url", "" if _PYPI in index or "://" not in index else redacted(index)),
    ]
    place = f"git+{git}" if git else url or source.get("path", "")
    return component(
        "pypi", row["name"], row.get("version", ""), hashes=_digests(files), qualifiers=qualifiers,
        url=redacted(place), local=bool(set(source) & {*_UV_OWN, "path"}),
    )  # fmt: skip


def _uv_needs(row: dict[str, Any]) -> list[tuple[str, str]]:
    optional = [each for group in row.get("optional-dependencies", {}).values() for each in group]
    return [(each["name"], each.get("version", "")) for each in [*row.get("dependencies", ()), *optional]]


def _pdm_component(row: dict[str, Any]) -> Component:
    git, url, path = row.get("git", ""), row.get("url", ""), row.get("path", "")
    revision = row.get("revision", "")
    vcs = f"git+{redacted(git)}@{revision}" if git else ""
    qualifiers = [("vcs_url", vcs), ("download_url", redacted(url))]
    return component(
        "pypi", row["name"], row.get("version", ""), hashes=_digests(row.get("files", ())), qualifiers=qualifiers,
        url=vcs or redacted(url) or path, local=bool(path),
    )  # fmt: skip


def _pylock_component(row: dict[str, Any]) -> Component:
    files = [*row.get("wheels", ()), *(row[key] for key in ("sdist", "archive") if key in row)]
    digests = [each for file in files for name, value in file.get("hashes", {}).items()
               for each in hashes.plain(name, value)]  # fmt: skip
    vcs, url = row.get("vcs", {}), redacted(row.get("archive", {}).get("url", ""))
    address = f"{vcs.get('type', 'git')}+{redacted(vcs.get('url', ''))}@{vcs.get('commit-id', '')}" if vcs else ""
    index = row.get("index", "")
    qualifiers = [
        ("vcs_url", address),
        ("download_url", url),
        ("repository_url", "" if _PYPI in index else redacted(index)),
    ]
    local = "directory" in row
    place = address or url or row.get("directory", {}).get("path", "")
    return component(
        "pypi", row["name"], row.get("version", ""), hashes=digests, qualifiers=qualifiers, url=place, local=local
    )


def _pipenv_component(name: str, row: dict[str, Any], indexes: dict[str, str], *, installed: bool) -> Component:
    kind = next((kind for kind in _VCS if kind in row), "")
    vcs = redacted(row[kind].partition("#")[0]) + f"@{row.get('ref', '')}" if kind else ""
    file = str(row.get("file", ""))
    index = indexes.get(row.get("index", ""), "") if not kind and not file else ""
    qualifiers = [
        ("vcs_url", vcs),
        ("download_url", "" if kind or "://files.pythonhosted.org/" in file else redacted(file)),
        ("repository_url", "" if _PYPI in index else index),
    ]
    version = pin(row.get("version", "")) or row.get("version", "")[2:]
    digests = [digest for each in row.get("hashes", ()) for digest in hashes.labelled(each)]
    place = f"{kind}+{vcs}" if kind and not vcs.startswith(f"{kind}+") else vcs
    return component(
        "pypi", name, version, hashes=digests, qualifiers=qualifiers,
        url=place or redacted(file) or row.get("path", ""), local=_is_local(row), installed=installed,
    )  # fmt: skip


def _is_local(row: dict[str, Any]) -> bool:
    place = str(row.get("file") or row.get("path") or "")
    scheme = place.partition(":")[0] if place.find(":", 2) > 0 else ""
    return bool(place) and (not scheme or scheme == "file" or scheme.endswith("+file"))
