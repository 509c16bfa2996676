"""Reads the dependencies of pyproject.toml and Pipfile (PEP 621, PEP 735, Poetry, PDM, uv, Pipenv)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from swarmgate.config import toml_text
from swarmgate.gates.sbom.model import Component, Declared, Malformed, Reading, component, normal
from swarmgate.gates.sbom.readers import requirements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.sbom.model import Document


def read(document: Document) -> Reading:
    """Every dependency, optional ones and those of groups included.

    Raises:
        Malformed: a requirement cannot be read.
        tomllib.TOMLDecodeError: it is not TOML.
    """
    data = toml_text.loads(document.text)
    poetry, project = toml_text.table(data, "tool", "poetry"), toml_text.table(data, "project")
    found = [_pep508(text, document, optional=optional) for optional, text in _texts(data)]
    found += [_constraint(name, spec, document) for _, name, spec in poetry_dependencies(poetry)]
    root = (str(poetry.get("name") or project.get("name") or ""), _version(poetry) or _version(project))
    own = normal("pypi", root[0])
    by_name = {each.name: (item, each) for item, each in found if each.name != own}
    return Reading(tuple(item for item, _ in by_name.values()), tuple(each for _, each in by_name.values()), root)


def pipfile(document: Document) -> Reading:
    """A Pipfile: `packages`, `dev-packages` and every category of its own."""
    data = toml_text.loads(document.text)
    found = [
        _constraint(name, spec, document)
        for section, table in data.items()
        if section not in {"source", "requires", "scripts", "pipenv"} and isinstance(table, dict)
        for name, spec in table.items()
    ]
    return Reading(tuple(item for item, _ in found), tuple(each for _, each in found))


def poetry_dependencies(poetry: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """(group, name, specification) of Poetry's own tables; the interpreter is left out."""
    tables = {"main": poetry.get("dependencies", {}), "dev": poetry.get("dev-dependencies", {})}
    for group, table in poetry.get("group", {}).items():
        tables[group] = {**tables.get(group, {}), **table.get("dependencies", {})}
    for group, table in tables.items():
        for name, spec in table.items():
            if normal("pypi", name) != "python":
                yield group, name, spec


def _texts(data: dict[str, Any]) -> Iterator[tuple[bool, str]]:
    """(whether it is optional, requirement)."""
    project = toml_text.table(data, "project")
    tables = (
        toml_text.table(project, "optional-dependencies"),
        toml_text.table(data, "dependency-groups"),
        toml_text.table(data, "tool", "pdm", "dev-dependencies"),
        {"dev": toml_text.table(data, "tool", "uv").get("dev-dependencies", ())},
    )
    yield from ((False, text) for text in project.get("dependencies", ()))
    for group in (group for table in tables for group in table.values()):
        yield from ((True, text) for text in group if isinstance(text, str))  # {include-group = ...} names another


def _pep508(text: str, document: Document, *, optional: bool) -> tuple[Component, Declared]:
    line = document.line_of(text) or document.line_of(text.replace('"', '\\"'))
    found = requirements.requirement(text, line)
    if found is None:
        raise Malformed(f"not a requirement: {text[:100]!r}", line)
    return found[0], replace(found[1], optional=optional)


def _constraint(name: str, spec: Any, document: Document) -> tuple[Component, Declared]:
    """A dependency in Poetry's or Pipenv's form: a constraint, or a table with `version`, `git`, `path`, `url`."""
    table: dict[str, Any] = spec if isinstance(spec, dict) else {}
    text = spec if isinstance(spec, str) else str(table.get("version", ""))
    version = requirements.pin(text)
    line = document.line_of(name, "=")
    place = str(table.get("url") or table.get("path") or table.get("file") or table.get("git") or "")
    pinned = bool(version and "*" not in version) or "path" in table or "url" in table or bool(table.get("rev"))
    item = component("pypi", name, version, url=requirements.redacted(place), local="path" in table)
    # Poetry's caret and tilde are no PEP 440: only a specifier that both know is compared with the lock.
    comparable = text if text[:1] in "<>=!" else ""
    marked = "markers" in table or "python" in table or "platform" in table
    return item, Declared("pypi", normal("pypi", name), comparable, line, pinned=pinned, marked=marked)


def _version(table: dict[str, Any]) -> str:
    version = table.get("version", "")
    return version if isinstance(version, str) else ""
