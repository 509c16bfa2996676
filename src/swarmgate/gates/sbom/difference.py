"""Compares the components before and after a change and finds dependencies that no lock file pins."""

from __future__ import annotations

import bisect
import hashlib
import posixpath
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.sbom.formats import Role
from swarmgate.gates.sbom.model import normal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from swarmgate.gates.sbom.inventory import Inventory
    from swarmgate.gates.sbom.model import Declared, Reading

    Key = tuple[str, str]
    """Purl type and normalised name."""


_NEWLINE = re.compile(rb"\n")


@dataclass(frozen=True, slots=True)
class Difference:
    """Components by name: added, removed, and changed (old versions, new versions)."""

    added: dict[Key, tuple[str, ...]]
    removed: dict[Key, tuple[str, ...]]
    changed: dict[Key, tuple[tuple[str, ...], tuple[str, ...]]]

    def __str__(self) -> str:
        return f"{len(self.added)} added, {len(self.removed)} removed, {len(self.changed)} changed"


def compare(base: Inventory, head: Inventory) -> Difference:
    """The difference between two inventories. The project's own packages (no purl) are not counted."""
    before, after = _versions(base), _versions(head)
    return Difference(
        {key: after[key] for key in sorted(after.keys() - before.keys())},
        {key: before[key] for key in sorted(before.keys() - after.keys())},
        {key: (before[key], after[key]) for key in sorted(before.keys() & after.keys()) if before[key] != after[key]},
    )


def findings(difference: Difference, head: Inventory, base: Inventory) -> list[Finding]:
    """One informing finding for each component that was added, removed or changed."""
    places, lost = _Places(head), _Places(base)
    found = [
        _finding("dependency-added", *places.of(key), f"{_name(key)} {_joined(versions)} is a new component")
        for key, versions in difference.added.items()
    ]
    found += [
        _finding("dependency-removed", lost.of(key)[0], 0, f"{_name(key)} {_joined(versions)} is a component no more")
        for key, versions in difference.removed.items()
    ]
    return found + [
        _finding("dependency-changed", *places.of(key), f"{_name(key)} {_joined(old)} became {_joined(new)}")
        for key, (old, new) in difference.changed.items()
    ]


def unsettled(base: Inventory, head: Inventory, touched: Iterable[str]) -> list[Finding]:
    """Dependencies that no lock pins, and manifests that their locks contradict.

    Those that the base revision had as well are told as old, and only in files that the change touches.
    """
    before = {key for key, _ in _problems(base)}
    required = {(path, each.type, each.name) for path, reading in base.readings.items() for each in reading.declared}
    near = set(touched)
    found = []
    for key, finding in _problems(head):
        path, name, kind = key
        new = key not in before
        if not new and path not in near:
            continue
        added = (path, head.kinds[path].type, name) not in required
        loose = kind == "unpinned" and _is_loose(base, head, path)
        rule = "lock-mismatch" if kind == "version" or (kind == "missing" and not added) else "dependency-unpinned"
        digest = hashlib.sha256(f"{rule}\0{path}\0{name}\0{kind}".encode("utf-8", "surrogateescape")).hexdigest()
        severity = Severity.LOW if loose else finding.severity
        update = {"rule": rule, "new": new, "fingerprint": digest, "severity": severity}
        found.append(finding.model_copy(update=update))
    return found


def unannounced(base: Inventory, head: Inventory, announced: str) -> list[Finding]:
    """New direct dependencies that the task's text does not name.

    Args:
        base: the components before the change.
        head: the components after it.
        announced: what the task says; a name counts as a word of its own, `-`, `_` and `.` being the same.
    """
    words = _plain(announced)
    before = {(each.type, each.name) for reading in base.readings.values() for each in reading.declared}
    own = {normal(head.kinds[path].type, each.root[0]) for path, each in head.readings.items()}
    found, reported = [], set[tuple[str, str]]()
    for path in sorted(head.readings):
        for each in head.readings[path].declared:
            key = each.type, each.name
            if key in before or key in reported or each.name in own or _names(words, each.name):
                continue
            reported.add(key)
            digest = hashlib.sha256(f"dependency-unannounced\0{path}\0{each.name}".encode("utf-8", "surrogateescape"))
            message = f"`{each.name}` is a new dependency that the task does not name"
            found.append(
                Finding(
                    rule="dependency-unannounced", path=path, line=each.line, message=message,
                    suggestion="do without it, or let the task say that it is wanted", fingerprint=digest.hexdigest(),
                )
            )  # fmt: skip
    return found


def _plain(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text.casefold())


def _names(words: str, name: str) -> bool:
    """Whether the text has the name, or the last part of a scoped or grouped one, as a word."""
    wanted = {_plain(name), _plain(re.split(r"[/:]", name)[-1])}
    return any(re.search(rf"(?<![\w-]){re.escape(each)}(?![\w-]*\w)", words) for each in wanted)


def _problems(inventory: Inventory) -> Iterator[tuple[tuple[str, str, str], Finding]]:
    """((manifest, name, kind), finding) for every dependency that is not settled."""
    own = {normal(inventory.kinds[path].type, each.root[0]) for path, each in inventory.readings.items()}
    broken = {each.path for each in inventory.unreadable}
    for path in sorted(inventory.readings):
        declared = inventory.readings[path].declared
        locks = inventory.locks_for(path) if declared else ()
        if broken & set(locks):
            continue  # what it pins is not known; that it is broken is said elsewhere
        settled = _Settled(inventory, path, locks)
        for each in declared:
            if each.name in own:
                continue
            kind, message = settled.judge(each)
            if kind:
                finding = _problem(path, each, kind, message)
                severity = Severity.LOW if settled.distant else Severity.MEDIUM
                yield (path, each.name, kind), finding.model_copy(update={"severity": severity})


class _Settled:
    """What the locks of one manifest say."""

    def __init__(self, inventory: Inventory, path: str, locks: tuple[str, ...]) -> None:
        self.role = inventory.kinds[path].role
        self.versions: defaultdict[str, set[str]] = defaultdict(set)
        self.specs: dict[str, list[str]] = {}
        folder = posixpath.dirname(path)
        same_folder = any(posixpath.dirname(lock) == folder for lock in locks)
        for lock in locks:
            self._take(inventory.readings[lock], same_folder=same_folder)
        own = normal(inventory.kinds[path].type, inventory.readings[path].root[0])
        member = own in self.versions or any(_is_member(inventory.readings[lock], lock, folder) for lock in locks)
        # A lock further up speaks for the members of its workspace. Whether a folder is one is not always known.
        self.distant = bool(locks) and not same_folder and not member
        self.locks = () if self.distant and self.role is Role.LIST else locks
        self.partial = any(posixpath.basename(lock).startswith(("pdm.", "pylock")) for lock in locks)
        listed = (inventory.readings.get(other) for other in inventory.readings[path].includes)
        self.constrained = {each.name for other in listed if other for each in other.declared if each.pinned}

    def _take(self, lock: Reading, *, same_folder: bool) -> None:
        for item in lock.components:
            self.versions[item.key[1]].add(item.version)
        for name, spec in lock.locked.items():
            self.versions.setdefault(name, set())
            if same_folder and spec:
                self.specs.setdefault(name, []).extend(spec.split("\n"))

    def judge(self, each: Declared) -> tuple[str, str]:
        """(kind, message) of an unsettled dependency; empty when it is settled."""
        if self.role is Role.LIST and (each.pinned or each.name in self.constrained):
            return "", ""
        if not self.locks:
            return ("", "") if each.pinned or each.name in self.constrained else ("unpinned", "and no lock pins it")
        names = " or ".join(posixpath.basename(lock) for lock in self.locks)
        if each.name not in self.versions:
            forgiven = each.marked or (each.optional and self.partial)
            return ("", "") if forgiven else ("missing", f"and {names} does not have it")
        specs = self.specs.get(each.name)
        if each.type == "npm" and each.spec and specs and not {each.spec, each.spec.removeprefix("npm:")} & {*specs}:
            return "version", f"and {names} was made for {specs[0]}"
        versions = sorted(filter(None, self.versions[each.name]))
        if each.type == "pypi" and versions and not any(_allows(each.spec, version) for version in versions):
            return "version", f"and {names} has {_joined(versions)}"
        return "", ""


def _is_member(lock: Reading, path: str, folder: str) -> bool:
    return posixpath.relpath(folder or ".", posixpath.dirname(path) or ".") in lock.members


def _allows(spec: str, version: str) -> bool:
    if not spec or spec[0] not in "<>=!~":
        return True  # a URL, a path, or a form that is not PEP 440
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415 - late: few changes come here
    from packaging.version import InvalidVersion  # noqa: PLC0415 - late: few changes come here

    try:
        return SpecifierSet(spec).contains(version, prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return True


def _problem(path: str, each: Declared, kind: str, message: str) -> Finding:
    mend = {
        "unpinned": "name one version (==), or add a lock",
        "missing": "run the package manager, and put the lock it writes into the change",
        "version": "lock again, and put the lock into the change",
    }
    wish = f"{each.name} {each.spec}".strip()
    return Finding(
        rule=kind, path=path, line=each.line,
        message=f"`{wish}` is asked for {message}", suggestion=mend[kind],
    )  # fmt: skip


def _is_loose(base: Inventory, head: Inventory, path: str) -> bool:
    """Whether ranges are the habit here: a library's manifest without a lock, or a list that pinned less than half.

    A new list speaks for itself: it pins nothing at all.

    What is added there is told, and not in the way.
    """
    if head.kinds[path].role is Role.MANIFEST:
        return True
    if path not in base.readings:
        return not any(each.pinned for each in head.readings[path].declared)
    before = base.readings[path].declared
    return bool(before) and 2 * sum(each.pinned for each in before) < len(before)


class _Places:
    """Where a component stands: the file that lists it, and the first line that names it."""

    def __init__(self, inventory: Inventory) -> None:
        self._contents = inventory.contents
        self._files: dict[Key, tuple[str, str]] = {}
        self._ends: dict[str, list[int]] = {}
        self._last: dict[str, int] = {}
        order = sorted(inventory.readings, key=lambda path: (inventory.kinds[path].role is not Role.LOCK, path))
        for path in order:
            for item in inventory.readings[path].components:
                self._files.setdefault(item.key, (path, item.name))

    def of(self, key: Key) -> tuple[str, int]:
        path, name = self._files[key]
        content = self._contents[path]
        needle = name.rpartition(":")[2].encode("utf-8", "surrogateescape")
        # Locks are sorted as we are: looking on from the last place keeps thousands of findings from being quadratic.
        last = self._last.get(path, 0)
        at = content.find(needle, last)
        at = at if at >= 0 else content.find(needle, 0, last + len(needle))
        if at < 0:
            return path, 0
        self._last[path] = at
        if path not in self._ends:
            self._ends[path] = [match.start() for match in _NEWLINE.finditer(content)]
        return path, bisect.bisect_left(self._ends[path], at) + 1


def _versions(inventory: Inventory) -> dict[Key, tuple[str, ...]]:
    found: defaultdict[Key, set[str]] = defaultdict(set)
    for each in inventory.components:
        if each.purl:
            found[each.key].add(each.version)
    return {key: tuple(sorted(versions)) for key, versions in found.items()}


def _finding(rule: str, path: str, line: int, message: str) -> Finding:
    return Finding(rule=rule, path=path, line=line, severity=Severity.INFO, message=message)


def _name(key: Key) -> str:
    return f"{key[1]} ({key[0]})"


def _joined(versions: Iterable[str]) -> str:
    return ", ".join(version or "(no version)" for version in versions)
