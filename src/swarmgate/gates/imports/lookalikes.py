"""Reports new dependencies with suspicious names: close to a well-known package (typosquatting), or unknown.

Declaring a name does not make it real. Without a registry only the known is known: a name that is near to a well-known
one is most likely a slip, or the bait that was registered for it (typosquatting); any other is for a person to check.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.imports.python import known_packages as known_python
from swarmgate.gates.imports.script import known_packages as known_npm
from swarmgate.gates.imports.unused import is_tool
from swarmgate.gates.sbom import formats
from swarmgate.gates.sbom.formats import Role, Unreadable
from swarmgate.gates.sbom.model import normal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from swarmgate.domain.review.change import ChangeSet
    from swarmgate.gates.project.environment import Environment
    from swarmgate.gates.project.view import View
    from swarmgate.gates.sbom.model import Declared, Reading

_SWAPPED, _SHORTEST, _ANY_LETTER = 4, 5, 6
"""Letters of a name in which swapped ones tell, one too much or too few does, and one for another does."""

_ELSEWHERE = re.compile(r"^(?:workspace|file|link|portal|patch|npm|git|github|https?)\b.*[:@]|^[./]|://")
"""Specifications of what no index brings, or what an alias names."""


def lookalikes(head: View, base: View, change: ChangeSet, environment: Environment) -> list[Finding]:
    """One finding per name that no manifest of the base declares and that is none of the project's own."""
    touched = [file.path for file in change.present if _lists(file.path)]
    if not touched:
        return []
    before = _readings(base, [path for path in base.files if _lists(path)])
    now = _readings(head, touched)
    known = {(each.type, _name(each)) for reading in before.values() for each in reading.declared}
    every = {**before, **now}
    known |= {(kind.type, normal(kind.type, every[path].root[0])) for path in every if (kind := formats.of(path))}
    found = []
    for path, reading in now.items():
        for each in reading.declared:
            key = each.type, _name(each)
            if key not in known and not _ELSEWHERE.search(each.spec.strip(" @")):
                known.add(key)
                found += _check(path, each, head, environment)
    return found


def _lists(path: str) -> bool:
    kind = formats.of(path)
    return kind is not None and kind.role is not Role.LOCK and kind.type in {"pypi", "npm"}


def _readings(view: View, paths: Iterable[str]) -> dict[str, Reading]:
    view.fetch(paths := list(paths))
    found = {}
    for path in paths:
        content, kind = view.content(path), formats.of(path)
        if content is not None and kind is not None:
            reading = formats.read(path, content, kind, lambda _: None)
            if not isinstance(reading, Unreadable):
                found[path] = reading
    return found


def _name(each: Declared) -> str:
    return normal(each.type, each.name)


def _check(path: str, each: Declared, head: View, environment: Environment) -> list[Finding]:
    name = _name(each)
    if is_known(each.type, name):
        return []
    meant = near(each.type, name)
    if meant:
        message = f"`{each.name}` is declared, a name one slip away from the well-known `{meant}`"
        hint = f"declare `{meant}`, if that was meant: near names are registered to be installed by mistake"
        return [_finding("lookalike-dependency", path, each, Severity.MEDIUM, message, hint)]
    if is_tool(each.type, name) or _is_here(each.type, name, head, environment):
        return []
    message = f"nobody here has seen `{each.name}`: check that it exists"
    hint = "look it up where it is published: no lock, no environment and no table of ours has it"
    return [_finding("unseen-dependency", path, each, Severity.LOW, message, hint)]


def is_known(type_: str, name: str) -> bool:
    """Whether a (normalised) name is that of a well-known package, or of a scope whose owner is."""
    if name.startswith("@"):
        return name.partition("/")[0] in known_npm.known("scopes")
    return name in _well_known(type_) or (type_ == "npm" and name in known_npm.known("builtin"))


@cache
def _well_known(type_: str) -> frozenset[str]:
    if type_ == "pypi":
        return known_python.distributions() | known_python.plugins()
    return known_npm.known("packages") | known_npm.known("twins")


def near(type_: str, name: str) -> str:
    """The well-known name that a name is a typing error of; empty when there is none."""
    if name.startswith("@"):
        return ""
    others = sorted(other for other in _well_known(type_) if abs(len(other) - len(name)) <= 2)  # noqa: PLR2004 - slips
    ranked = sorted((distance, other) for other in others if (distance := _slips(name, other)))
    return ranked[0][1] if ranked else ""


def _slips(name: str, known: str) -> int:
    """How many slips lie between two names; 0 where that says nothing.

    Numbers at the end are versions (`boto3`), and what both names begin with, up to a hyphen, tells them apart in
    nothing: of `django-redis` and `django-rest` only the ends count.
    """
    a, b = name.replace("_", "-").replace(".", "-"), known.replace("_", "-").replace(".", "-")
    if a.rstrip("0123456789") == b.rstrip("0123456789"):
        return int(a == b)  # `lodash_merge`: hyphens alone
    if a.replace("-", "") == b.replace("-", ""):
        return 1
    shared = _shared(a, b)
    a, b = a[shared:], b[shared:]
    if sorted(a) == sorted(b) and min(len(a), len(b)) >= _SWAPPED:
        return _distance(a, b) if _distance(a, b) <= 2 else 0  # noqa: PLR2004 - two swaps
    return int(min(len(a), len(b)) >= _SHORTEST and _distance(a, b) == 1 and _slipped(a, b))


def _slipped(a: str, b: str) -> bool:
    """Whether the one letter in which two words differ is a slip, and not what makes another word of it.

    Words are made of others at their ends: `grequests`, `sqlglotc` and `prices` for `pricer` are names of their own.
    """
    place = next((n for n, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), min(len(a), len(b)))
    if len(a) == len(b):
        return len(a) >= _ANY_LETTER and 0 < place < len(a) - 1
    if len(a) < len(b):
        return True  # a letter is missing
    doubled = a[place] in a[max(place - 1, 0) : place] + a[place + 1 : place + 2]
    return doubled or 0 < place < len(b)


def _shared(a: str, b: str) -> int:
    """The length of the parts that both begin with; that a name is one of Python says nothing."""
    length = 2 if a.startswith("py") and b.startswith("py") else 0
    if length:
        return length
    for one, other in zip(a.split("-")[:-1], b.split("-")[:-1], strict=False):
        if one != other:
            break
        length += len(one) + 1
    return length


def _distance(a: str, b: str) -> int:
    """Letters too much, too few, wrong or swapped between two words (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, one in enumerate(a, 1):
        last, before, row = before, row, [i]
        for j, other in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (one != other))
            if i > 1 and j > 1 and one == b[j - 2] and a[i - 2] == other:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _is_here(type_: str, name: str, head: View, environment: Environment) -> bool:
    """Whether a lock file of the tree names it, or it is installed."""
    locks = [
        path for path in head.files if (kind := formats.of(path)) and kind.role is Role.LOCK and kind.type == type_
    ]
    head.fetch(locks)
    word = re.escape(name).replace("\\-", "[-_.]") if type_ == "pypi" else re.escape(name)
    pattern = re.compile(rf"(?<![\w.-]){word}(?![\w-])".encode(), re.IGNORECASE)
    if any(pattern.search(head.content(path) or b"") for path in locks):
        return True
    if type_ == "npm":
        folders = {posixpath.dirname(path) for path in head.files if path.endswith("package.json")}
        return any((head.repository.root / folder / "node_modules" / name).is_dir() for folder in folders)
    return bool(environment.provided_by(name))


def _finding(rule: str, path: str, each: Declared, severity: Severity, message: str, hint: str) -> Finding:
    return Finding(rule=rule, path=path, line=each.line, severity=severity, message=message, suggestion=hint)
