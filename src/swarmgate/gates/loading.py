"""The present files of a change with their content, read once from the tree that is judged, for all gates."""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

from swarmgate.gates import attributes, recognise
from swarmgate.gates.files import MAX_BYTES, READ_BYTES, UNREADABLE, Source, Trait, language_of, traits_of
from swarmgate.gates.scope import Scope
from swarmgate.workspace.paths import encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from swarmgate.domain.change import ChangedFile, ChangeSet
    from swarmgate.workspace.repository import Repository

RUN_BYTES = 256_000_000
"""So much is read for one run; files beyond it, in the order of their paths, count as large."""

_REGULAR = ("100644", "100755", "100664")
_LINK, _SUBMODULE = "120000", "160000"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def load(repository: Repository, change: ChangeSet, scope: Scope | None = None) -> tuple[Source, ...]:
    """Every present file of the change; content only of those that a gate may read.

    Args:
        repository: the user's repository.
        change: what is judged.
        scope: whose attributes hold, and whether a file's own word counts; by default the base's, and not.
    """
    scope = scope or Scope()
    sources = [_described(repository.root, file) for file in change.present]
    beyond = _beyond(sources)
    sources = [replace(each, traits=each.traits | {Trait.LARGE}) if each.path in beyond else each for each in sources]
    contents = _contents(repository, change.tree, [each.path for each in sources if not each.traits & UNREADABLE])
    sources = [replace(each, content=contents.get(each.path, b"")) for each in sources]
    large = {each.path for each in sources if Trait.LARGE in each.traits} - beyond
    sources = [_with_beginning(repository.root, each) if each.path in large else each for each in sources]
    said = attributes.declared(repository.root, scope.reference or change.base, [each.path for each in sources])
    sources = [_recognised(each, said.get(each.path, {})) for each in sources]
    return tuple(sources if scope.by_hand else _without_own_word(repository, change.base, sources, said))


def _described(root: Path, file: ChangedFile) -> Source:
    traits, size = traits_of(file.path), 0
    by_mode = {_LINK: Trait.LINK, _SUBMODULE: Trait.SUBMODULE}.get(file.new_mode)
    if by_mode:
        traits = frozenset({by_mode})
    else:
        # The tree is a snapshot of these files; asking git for the size would cost another process.
        with contextlib.suppress(OSError):  # gone meanwhile: the tree still has it
            size = _place(root, file.path).lstat().st_size
    return Source(
        path=file.path,
        language=language_of(file.path),
        traits=traits | {Trait.LARGE} if size > MAX_BYTES else traits,
        base_path=(file.old_path or file.path) if file.old_mode in _REGULAR else "",
        added_lines=frozenset(file.added_lines),
        size=size,
    )


def _beyond(sources: Sequence[Source]) -> set[str]:
    total, paths = 0, set()
    for source in sources:
        total += min(source.size, READ_BYTES)
        if total > RUN_BYTES:
            paths.add(source.path)
    return paths


def _contents(repository: Repository, tree: str, paths: Sequence[str]) -> Mapping[str, bytes]:
    return repository.read_many(tree, paths) if paths else {}


def _with_beginning(root: Path, source: Source) -> Source:
    # What stands there may have become a link or a pipe since the snapshot was taken.
    with contextlib.suppress(OSError), os.fdopen(os.open(_place(root, source.path), _READ), "rb") as file:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return replace(source, content=file.read(READ_BYTES))
    return source


def _recognised(source: Source, said: Mapping[Trait, bool]) -> Source:
    """The file with the traits that its content shows; what the project declares wins over the file's name."""
    if source.traits & {Trait.LINK, Trait.SUBMODULE}:
        return source
    traits = source.traits | recognise.traits(source.language, source.content)
    if said.get(Trait.GENERATED) is False:
        traits -= {Trait.MINIFIED}
    traits = (traits - {trait for trait, holds in said.items() if not holds}) | {
        t for t, holds in said.items() if holds
    }
    return replace(source, traits=traits)


def _without_own_word(
    repository: Repository, base: str, sources: Sequence[Source], said: Mapping[str, Mapping[Trait, bool]]
) -> list[Source]:
    """Take away what only the changed content says of itself, and the base's content and attributes do not.

    Or else an agent would write `@generated` above its code and be judged no more.
    """
    claims = {each.path: _claimed(each) - set(said.get(each.path, ())) for each in sources}
    suspects = [each for each in sources if claims[each.path]]
    before = _contents(repository, base, [each.base_path for each in suspects if each.base_path])
    kept = []
    for source in sources:
        unproven = claims[source.path]
        if unproven:
            unproven -= recognise.traits(source.language, before.get(source.base_path, b""))
        kept.append(replace(source, traits=source.traits - unproven) if unproven else source)
    return kept


def _claimed(source: Source) -> set[Trait]:
    """The traits that the content alone gives a file."""
    return set(source.traits & {Trait.GENERATED, Trait.MINIFIED}) - traits_of(source.path)


def _place(root: Path, path: str) -> Path:
    return root / os.fsdecode(encode(path))
