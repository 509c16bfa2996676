"""Data model of dependencies: components, their requirements, and what the project asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

UNKNOWN = "unknown"
"""The name of what has none before it is built (a local path, the URL of an archive); cyclonedx-py says the same."""


class Malformed(ValueError):
    """Raised by readers for a malformed file, caught where the file is read (`formats.read`)."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Component:
    """One package at one version.

    `type` is a purl type, `name` the full name as its ecosystem writes it (`@scope/name`, `group:artifact`,
    `vendor/name`). `hashes` are (CycloneDX algorithm, lower-case hex) of its artefacts, one for each file that the lock
    allows. `depends` are the refs of the components that it needs. `installed` is False for what is locked and yet not
    brought by a plain install (Poetry's optional groups and extras, Pipenv's develop). `origin`: where it was
    found, if not in a file of the tree.
    """

    type: str
    name: str
    version: str
    ref: str
    purl: str = ""
    hashes: tuple[tuple[str, str], ...] = ()
    depends: tuple[str, ...] = ()
    url: str = ""
    installed: bool = True
    origin: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What stays the same when the version changes."""
        return self.type, normal(self.type, self.name)


@dataclass(frozen=True, slots=True)
class Declared:
    """One dependency that a manifest asks for. `name` is normalised; `pinned` when it names exactly one version.

    `marked`: an environment marker stands beside it, so that a lock may rightly lack it. `optional`: it belongs to an
    extra or a group, which some tools lock only when told to.
    """

    type: str
    name: str
    spec: str = ""
    line: int = 0
    pinned: bool = False
    marked: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """One file, read. `root`: name and version of the project itself. `includes`: requirements files that it names.

    `locked`: further names that a lock settles; where it repeats what its manifest asked for (npm, yarn, pnpm), with
    the specifications, one a line. `members`: folders of the workspace that a lock speaks for (pnpm).
    """

    components: tuple[Component, ...] = ()
    declared: tuple[Declared, ...] = ()
    root: tuple[str, str] = ("", "")
    includes: tuple[str, ...] = ()
    locked: dict[str, str] = field(default_factory=dict)
    members: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Document:
    """A file to read: its path, its text, and how to get at the text of a file beside it (None: there is none)."""

    path: str
    text: str
    sibling: Callable[[str], str | None] = field(default=lambda _: None)

    def line_of(self, *words: str) -> int:
        """The first line that has all the words, from 1; 0 when there is none."""
        for number, line in enumerate(self.text.splitlines(), 1):
            if all(word in line for word in words):
                return number
        return 0


_SEPARATORS = str.maketrans("_.", "--")


def normal(type_: str, name: str) -> str:
    """The name under which an ecosystem compares (PEP 503 for Python, case-insensitive for NuGet and Composer)."""
    if type_ == "pypi":
        text = name.lower().translate(_SEPARATORS)
        while "--" in text:
            text = text.replace("--", "-")
        return text
    return name.lower() if type_ in {"nuget", "composer"} else name


def purl(type_: str, name: str, version: str = "", qualifiers: Iterable[tuple[str, str]] = ()) -> str:
    """A package URL (github.com/package-url/purl-spec).

    Args:
        type_: the purl type.
        name: the full name; what stands before the last `/` (for Maven: `:`) becomes the namespace.
        version: the version as its ecosystem writes it.
        qualifiers: keys and values; empty values are left out.
    """
    if type_ == "pypi":
        name = name.lower().replace("_", "-")
    elif type_ == "composer":
        name = name.lower()
    elif type_ == "npm":
        scope, slash, own = name.rpartition("/")
        name = f"{scope}{slash}{own.lower()}"
    segments = name.split(":") if type_ == "maven" else name.split("/")
    text = f"pkg:{type_}/" + "/".join(_quoted(segment) for segment in segments if segment)
    if version:
        text += f"@{_quoted(version)}"
    pairs = [f"{key}={_quoted(value, '/')}" for key, value in sorted(qualifiers) if value]
    return text + ("?" + "&".join(pairs) if pairs else "")


def component(
    type_: str,
    name: str,
    version: str = "",
    *,
    hashes: Iterable[tuple[str, str]] = (),
    depends: Iterable[str] = (),
    qualifiers: Iterable[tuple[str, str]] = (),
    url: str = "",
    local: bool = False,
    installed: bool = True,
) -> Component:
    """A component with its purl, which is also its ref. What is `local` has no purl."""
    address = "" if local or name == UNKNOWN else purl(type_, name, version, qualifiers)
    return Component(
        type=type_,
        name=name,
        version=version,
        ref=address or f"local:{type_}/{name}" + (f"@{version}" if version else "") + (f"#{url}" if url else ""),
        purl=address,
        hashes=tuple(sorted(set(hashes))),
        depends=tuple(sorted(set(depends))),
        url=url,
        installed=installed,
    )


def needing(item: Component, refs: Iterable[str]) -> Component:
    """The component with these edges; empty refs are left out."""
    edges = tuple(sorted({*refs} - {""}))
    # Spelt out: `replace` takes five times as long, and a lock has thousands.
    return Component(
        item.type, item.name, item.version, item.ref, item.purl, item.hashes, edges, item.url, item.installed
    )


def _quoted(text: str, safe: str = "") -> str:
    return text if text.isalnum() and text.isascii() else quote(text, safe=f":{safe}")
