"""Reads requirements.txt, constraints.txt and similar files of pip."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from swarmgate.gates.sbom.model import UNKNOWN, Component, Declared, Malformed, Reading, component, normal
from swarmgate.gates.sbom.readers import hashes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from packaging.requirements import Requirement

    from swarmgate.gates.sbom.model import Document

_INCLUDE = re.compile(r"^(?:-r|-c|--requirement|--constraint)(?:\s*=?\s*)(\S+)$")
_EDITABLE = re.compile(r"^(?:-e|--editable)(?:\s+|=)(.+)$")
_OPTION = re.compile(r"\s+--(?:hash|config-settings?|global-option|install-option)(?:=|\s+)(\"[^\"]*\"|\S+)")
_HASH = re.compile(r"--hash(?:=|\s+)(\S+)")
_COMMENT = re.compile(r"(?:^|\s+)#.*$")
_SIMPLE = re.compile(r"^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)==([0-9][A-Za-z0-9.+!_-]*)$")
_PIN = re.compile(r"^\s*={2,3}\s*([^\s,]+)\s*$")
_URL = re.compile(r"^(?:[a-z][a-z0-9]*\+)?[a-z][a-z0-9.-]*:", re.IGNORECASE)
_NAMED_URL = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*@\s*(\S+)")
_EGG = re.compile(r"[#&]egg=([A-Za-z0-9][A-Za-z0-9._-]*)")
_VARIABLE = re.compile(r"\$\{[A-Z0-9_]+\}|\{\{|\{%")
_AUTH = re.compile(r"(?<=://)[^/@:]+:[^/@]+@")
_ARCHIVES = (".whl", ".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz")
_VCS = ("git", "hg", "svn", "bzr")


def read(document: Document) -> Reading:
    """The requirements of one file; those that it includes are named, and read by the caller.

    Raises:
        Malformed: a line is no requirement, with its number.
    """
    components, declared, includes = [], [], []
    for number, line in lines(document.text):
        include = _INCLUDE.match(line)
        if include and not _VARIABLE.search(line):
            target = posixpath.join(posixpath.dirname(document.path), include[1].strip("\"'"))
            includes.append(posixpath.normpath(target))
        elif not line.startswith("-") or _EDITABLE.match(line):
            found = requirement(line, number)
            if found is not None:
                components.append(found[0])
                declared.append(found[1])
    return Reading(tuple(components), tuple(each for each in declared if each.name), includes=tuple(includes))


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Logical lines with the number of their first: continuations joined, comments and blank lines left out."""
    parts: list[str] = []
    start = 0
    for number, raw in enumerate(text.splitlines(), 1):
        start = start if parts else number
        line = raw
        if line.endswith("\\") and not line.lstrip().startswith("#"):
            parts.append(line[:-1])
            continue
        whole = _COMMENT.sub("", "".join([*parts, line])).strip()
        parts = []
        if whole:
            yield start, whole
    if parts and "".join(parts).strip():
        yield start, "".join(parts).strip()


def requirement(line: str, number: int) -> tuple[Component, Declared] | None:
    """One line as a component (without a version where it pins none) and as a wish.

    None where a variable of the environment or of a template decides.
    """
    simple = _SIMPLE.match(line)
    if simple:
        name, version = simple.groups()
        return component("pypi", name, version), Declared(
            "pypi", normal("pypi", name), f"=={version}", number, pinned=True
        )
    digests = [each for match in _HASH.finditer(line) for each in hashes.labelled(match[1].strip("\"'"))]
    bare = _OPTION.sub("", line)
    editable = _EDITABLE.match(bare)
    text = (editable[1] if editable else bare).strip()
    text = text[1:-1] if text[:1] in "\"'" and text[:1] == text[-1:] else text
    if _VARIABLE.search(text):
        return None
    named = _NAMED_URL.match(text)
    if named and not _URL.match(text):
        return _from_url(named[2], named[1], digests, number)
    if _URL.match(text):
        egg = _EGG.search(text)
        return _from_url(text.split(";")[0].strip(), egg[1] if egg else "", digests, number)
    if editable or _is_path(text):
        return _from_path(text, digests, number)
    parsed = parse(text, number)
    version = pin(str(parsed.specifier))
    item = component("pypi", parsed.name, version, hashes=digests)
    exact = bool(version) and "*" not in version
    marked = parsed.marker is not None
    return item, Declared(
        "pypi", normal("pypi", parsed.name), str(parsed.specifier), number, pinned=exact, marked=marked
    )


def parse(text: str, number: int) -> Requirement:
    """A requirement by PEP 508, and in the older form with parentheses.

    Raises:
        Malformed: it is none.
    """
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - late: 15 ms

    try:
        return Requirement(text)
    except InvalidRequirement as error:
        raise Malformed(f"not a requirement: {text[:100]!r}", number) from error


def pin(specifier: str) -> str:
    """The version that `==` or `===` names; empty where the specifier says anything else."""
    match = _PIN.match(specifier)
    return match[1] if match else ""


def redacted(url: str) -> str:
    """The URL without user and password."""
    return _AUTH.sub("", url)


def _is_path(text: str) -> bool:
    place = text.split(";", maxsplit=1)[0].strip()
    return place.startswith((".", "/", "~")) or place.lower().endswith(_ARCHIVES) or ("/" in place and "@" not in place)


def _from_url(url: str, name: str, digests: list[hashes.Hash], number: int) -> tuple[Component, Declared]:
    url = redacted(url)
    scheme = url.partition(":")[0].lower()
    parts = urlsplit(url.partition("+")[2] if "+" in scheme else url)
    found, version = ("", "") if name else _wheel(parts.path)
    name = name or found or UNKNOWN
    fragment = parts.fragment.split("&")
    digests = digests + [each for part in fragment for each in hashes.labelled(part.replace("=", ":", 1))]
    kind = "vcs_url" if scheme.split("+")[0] in _VCS else "download_url"
    public = "://files.pythonhosted.org/" in url
    qualifiers = () if public or scheme == "file" else ((kind, url),)
    item = component(
        "pypi", name, version, hashes=digests, qualifiers=qualifiers, url=url, local=scheme.endswith("file")
    )
    wish = "" if name == UNKNOWN else normal("pypi", name)
    revision = "@" in parts.path if kind == "vcs_url" else True
    return item, Declared("pypi", wish, url, number, pinned=revision)


def _from_path(text: str, digests: list[hashes.Hash], number: int) -> tuple[Component, Declared]:
    place = re.sub(r"\[[^\]]*\]$", "", text.split(";", maxsplit=1)[0].strip())
    name, version = _wheel(place)
    item = component("pypi", name or UNKNOWN, version, hashes=digests, url=place, local=True)
    return item, Declared("pypi", normal("pypi", name), place, number, pinned=True)


def _wheel(path: str) -> tuple[str, str]:
    """Name and version in a wheel's file name; an archive of another kind tells them only when it is built."""
    file = unquote(posixpath.basename(path))
    parts = file.removesuffix(".whl").split("-")
    return (parts[0], parts[1]) if file.endswith(".whl") and len(parts) >= 5 else ("", "")  # noqa: PLR2004 - PEP 427
