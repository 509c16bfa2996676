"""Reads Maven's pom.xml: direct dependencies, with the properties and managed versions of the same file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.parsers import expat

from swarmgate.gates.sbom.model import Declared, Malformed, Reading, component

if TYPE_CHECKING:
    from swarmgate.gates.sbom.model import Document

_PROPERTY = re.compile(r"\$\{([^}]+)\}")
_MANAGED = "dependencyManagement/dependencies/dependency"
_RANGE = re.compile(r"[\[\](),]|^(?:LATEST|RELEASE)$")

_Dependency = tuple[dict[str, str], int]


def read(document: Document) -> Reading:
    """The dependencies of the project and of its profiles. A version that a parent decides stays open.

    Raises:
        Malformed: it is not XML.
    """
    parsed = _Pom(document.text)
    managed = {}
    for fields, _ in parsed.managed:
        managed[parsed.key(fields)] = parsed.resolve(fields.get("version", ""))
    items, declared = [], []
    for fields, line in parsed.dependencies:
        name = parsed.key(fields)
        version = parsed.resolve(fields.get("version", "")) or managed.get(name, "")
        version = "" if _PROPERTY.search(version) else version
        pinned = not _RANGE.search(version)  # where it is open, a parent pom decides, which is not here
        kind, classifier = fields.get("type", ""), parsed.resolve(fields.get("classifier", ""))
        qualifiers = [("type", "" if kind == "jar" else kind), ("classifier", classifier)]
        items.append(component("maven", name, version, qualifiers=qualifiers))
        declared.append(Declared("maven", name, version, line, pinned=pinned))
    unique = {item.ref: item for item in items}
    root = f"{parsed.resolve('${project.groupId}')}:{parsed.project.get('artifactId', '')}".strip(":")
    return Reading(tuple(unique.values()), tuple(declared), (root, parsed.resolve("${project.version}")))


class _Pom:
    """A pom.xml in one pass. Entities are refused: a pom needs none, and they are how small files become large."""

    def __init__(self, text: str) -> None:
        self.project: dict[str, str] = {}
        self.parent: dict[str, str] = {}
        self.properties: dict[str, str] = {}
        self.dependencies: list[_Dependency] = []
        self.managed: list[_Dependency] = []
        self._path: list[str] = []
        self._text: list[str] = []
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text.append
        self._parser.EntityDeclHandler = self._refuse
        try:
            self._parser.Parse(text.encode(), True)
        except expat.ExpatError as error:
            raise Malformed(f"not valid XML: {expat.errors.messages[error.code]}", error.lineno) from error

    def key(self, fields: dict[str, str]) -> str:
        """`group:artifact`."""
        return f"{self.resolve(fields.get('groupId', ''))}:{self.resolve(fields.get('artifactId', ''))}"

    def resolve(self, text: str, depth: int = 8) -> str:
        """The text with its properties put in; what this file does not know stays as it is."""
        if depth == 0 or "${" not in text:
            return text
        resolved = _PROPERTY.sub(lambda match: self._property(match[1], match[0]), text)
        return resolved if resolved == text else self.resolve(resolved, depth - 1)

    def _property(self, name: str, default: str) -> str:
        if name in self.properties:
            return self.properties[name]
        scope, _, field = name.rpartition(".")
        if scope in {"project", "pom"}:
            return self.project.get(field) or self.parent.get(field, "" if field in {"groupId", "version"} else default)
        return self.parent.get(field, default) if scope == "project.parent" else default

    def _start(self, tag: str, _: object) -> None:
        self._path.append(tag.rpartition(" ")[2])
        self._text.clear()
        if self._path[-2:] == ["dependencies", "dependency"]:
            inside = "/".join(self._path)
            target = self.managed if inside.endswith(_MANAGED) else self.dependencies
            if "plugin" not in self._path:
                target.append(({}, self._parser.CurrentLineNumber))

    def _end(self, _: str) -> None:
        text = "".join(self._text).strip()
        self._text.clear()
        *above, name = self._path
        self._path.pop()
        if above == ["project"]:
            self.project.setdefault(name, text)
        elif above == ["project", "parent"]:
            self.parent[name] = text
        elif above == ["project", "properties"]:
            self.properties[name] = text
        elif above[-2:] == ["dependencies", "dependency"] and "plugin" not in above:
            rows = self.managed if "dependencyManagement" in above else self.dependencies
            rows[-1][0][name] = text

    def _refuse(self, *_: object) -> None:
        raise Malformed("it declares XML entities, which a pom needs not", self._parser.CurrentLineNumber)
