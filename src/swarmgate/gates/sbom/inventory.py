"""Collects the components of a tree from all its manifests and lock files."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from swarmgate.gates.sbom import formats
from swarmgate.gates.sbom.formats import Role, Unreadable
from swarmgate.gates.sbom.model import needing, normal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from swarmgate.gates.sbom.formats import Format
    from swarmgate.gates.sbom.model import Component, Reading
    from swarmgate.workspace.git.repository import Repository

    Contents = Callable[[list[str]], Mapping[str, bytes]]
    """The contents of those paths that are files."""

    Memo = dict[tuple[str, tuple[bytes | None, ...]], Reading | Unreadable]
    """What a path read as, by its content and those of its siblings."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """What a tree holds: readings by path, what could not be read, and the components, unique and sorted by ref."""

    readings: dict[str, Reading] = field(default_factory=dict)
    kinds: dict[str, Format] = field(default_factory=dict)
    unreadable: tuple[Unreadable, ...] = ()
    contents: dict[str, bytes] = field(default_factory=dict)
    components: tuple[Component, ...] = ()

    @property
    def root(self) -> tuple[str, str]:
        """Name and version of the project: the shallowest manifest that tells them."""
        named = [(path.count("/"), path) for path, reading in self.readings.items() if reading.root[0]]
        return self.readings[min(named)[1]].root if named else ("", "")

    @property
    def declared(self) -> frozenset[tuple[str, str]]:
        """What manifests ask for themselves: the keys of components."""
        return frozenset((each.type, each.name) for reading in self.readings.values() for each in reading.declared)

    def listed(self, *, everything: bool = False) -> list[Component]:
        """The components that a plain install brings, or all that are locked."""
        return [each for each in self.components if each.installed or everything]

    def locks_for(self, path: str) -> tuple[str, ...]:
        """The locks that speak for a manifest: those of its ecosystem in its folder, else in the nearest one above.

        For a `.in` file, the `.txt` that pip-compile makes of it comes first.
        """
        compiled = f"{path[:-3]}.txt"
        if path.endswith(".in") and compiled in self.kinds:
            return (compiled,)
        type_ = self.kinds[path].type
        locks = [each for each, kind in self.kinds.items() if kind.role is Role.LOCK and kind.type == type_]
        folder = posixpath.dirname(path)
        while True:
            found = tuple(sorted(each for each in locks if posixpath.dirname(each) == folder))
            if found or not folder:
                return found
            folder = posixpath.dirname(folder)


def collect(repository: Repository, tree: str) -> Inventory:
    """The inventory of a tree."""
    return build(repository.list_tree(tree), lambda paths: repository.read_many(tree, paths), {})


def build(paths: Iterable[str], contents: Contents, memo: Memo) -> Inventory:
    """The inventory of some paths.

    Args:
        paths: every path of the tree.
        contents: reads files.
        memo: readings to use again and to add to; two trees of one project differ in few files.
    """
    every = set(paths)
    kinds = {path: kind for path in sorted(every) if (kind := formats.of(path)) is not None}
    wanted = set(kinds) | {each for path, kind in kinds.items() for each in _siblings(path, kind)}
    known = dict(contents(sorted(wanted & every)))
    kinds = {path: kind for path, kind in kinds.items() if path in known}  # a submodule or a link has no content
    results: dict[str, Reading | Unreadable] = {}
    todo = list(kinds)
    while todo:
        for path in todo:
            results[path] = _read(path, kinds[path], known, memo)
        named = {each for path in todo for each in _includes(results[path])} & every - set(kinds)
        known |= contents(sorted(named))
        todo = sorted(named & set(known))
        kinds |= dict.fromkeys(todo, formats.included())
    readings = {path: each for path, each in results.items() if not isinstance(each, Unreadable)}
    inventory = Inventory(
        readings, kinds, tuple(each for _, each in sorted(results.items()) if isinstance(each, Unreadable)), known
    )
    return Inventory(readings, kinds, inventory.unreadable, known, _merged(inventory))


def _siblings(path: str, kind: Format) -> list[str]:
    folder = posixpath.dirname(path)
    return [posixpath.normpath(posixpath.join(folder, name)) for name in kind.siblings]


def _read(path: str, kind: Format, known: Mapping[str, bytes], memo: Memo) -> Reading | Unreadable:
    siblings = dict(zip(kind.siblings, _siblings(path, kind), strict=True))
    key = path, (known[path], *(known.get(each) for each in siblings.values()))
    if key not in memo:
        memo[key] = formats.read(path, known[path], kind, lambda name: known.get(siblings[name]))
    return memo[key]


def _includes(result: Reading | Unreadable) -> tuple[str, ...]:
    return () if isinstance(result, Unreadable) else result.includes


def _merged(inventory: Inventory) -> tuple[Component, ...]:
    """Components of all files, one a ref; a manifest's only where no lock speaks for it."""
    own = {(inventory.kinds[path].type, each.root[0]) for path, each in inventory.readings.items() if each.root[0]}
    own = {(type_, normal(type_, name)) for type_, name in own}
    found: dict[str, Component] = {}
    for path in sorted(inventory.readings):
        if inventory.kinds[path].role is Role.MANIFEST and inventory.locks_for(path):
            continue
        for item in inventory.readings[path].components:
            if not item.version and not item.purl and item.key in own:
                continue
            before = found.get(item.ref)
            found[item.ref] = item if before is None else _both(before, item)
    return tuple(found[ref] for ref in sorted(found))


def _both(one: Component, other: Component) -> Component:
    if one == other:
        return one
    whole = needing(one, [*one.depends, *other.depends])
    hashes = tuple(sorted({*one.hashes, *other.hashes}))
    return replace(whole, hashes=hashes, installed=one.installed or other.installed)
