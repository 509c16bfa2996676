"""Loads the files of a change with their content, once for all gates."""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

from swarmgate.gates.project import attributes
from swarmgate.gates.project.files import MAX_BYTES, READ_BYTES, SAID, UNREADABLE, Trait, language_of, traits_of
from swarmgate.gates.project.index import Project
from swarmgate.gates.project.scope import Scope
from swarmgate.gates.project.view import View
from swarmgate.gates.source import content_traits
from swarmgate.gates.source.encodings import in_utf8
from swarmgate.gates.source.file import Revision, SourceFile
from swarmgate.workspace import system
from swarmgate.workspace.files.paths import encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from swarmgate.domain.review.change import ChangedFile, ChangeSet
    from swarmgate.workspace.git.repository import Repository

RUN_BYTES = 256_000_000
"""So much is read for one run, small files first; who would look at one beyond it is an error."""

_PROBE_BYTES = 8000
"""Of a binary file that there is no room for, so much is read: enough to know that it is one."""

_UNREAD = frozenset({Trait.LINK, Trait.SUBMODULE, Trait.BINARY, Trait.UNREAD})
_REGULAR = ("100644", "100755", "100664")
_LINK, _SUBMODULE = "120000", "160000"
_READ = os.O_RDONLY | system.NOFOLLOW | system.NONBLOCK


def load(repository: Repository, change: ChangeSet, scope: Scope | None = None) -> tuple[SourceFile, ...]:
    """Load every present file of the change; content only of those that a gate may read.

    Args:
        repository: the user's repository.
        change: what is judged.
        scope: whose attributes hold, and whether a file's own word counts; by default the base's, and not.
    """
    scope = scope or Scope()
    sources = _within_bounds(repository.root, [_described(repository.root, file) for file in change.present])
    small = [each for each in sources if not each.traits & UNREADABLE]
    wanted = {change.tree: [each.path for each in small]}
    wanted[change.base] = [each.base_path for each in small]
    # What is asked for below is read along.
    wanted.setdefault(scope.reference or change.base, []).extend(attributes.places(each.path for each in sources))
    contents = repository.read_trees(wanted)
    sources = [_loaded(repository.root, each, contents[change.tree]) for each in sources]
    large = [each.base_path for each in sources if Trait.LARGE in each.traits and not each.traits & _UNREAD]
    before = contents[change.base] | repository.read_many(change.base, large)
    sources = [_with_past(each, before) for each in sources]
    marks = attributes.declared(repository, scope.reference or change.base, [each.path for each in sources])
    sources = [_recognised(each, marks.get(each.path, {})) for each in sources]
    if not scope.by_hand:
        sources = [_without_own_word(each, marks.get(each.path, {})) for each in sources]
    written = _written(repository, change, scope)
    return tuple(_doubted(each, marks.get(each.path, {}), scope) if each.path in written else each for each in sources)


def project_of(repository: Repository, change: ChangeSet, sources: Sequence[SourceFile], scope: Scope) -> Project:
    """The project index of a change, filled with the files that are loaded already."""
    whole = [each for each in sources if Trait.LARGE not in each.traits]
    before = {each.base_path: each.was.content for each in whole if each.was.content}
    now = {each.path: each.content for each in whole if each.content}
    head = View(repository, change.tree, now)
    differing = {path for file in change.files for path in file.touched}
    twin = None if scope.whole or scope.paths else (head, differing)
    return Project(View(repository, change.base, before, twin=twin), head)


def _written(repository: Repository, change: ChangeSet, scope: Scope) -> set[str]:
    """The files whose content the revision that they are compared with does not have, under this name or an old one."""
    before = scope.reference or change.base
    past = change if before == change.base else repository.changes(before, change.tree)
    return {file.path for file in past.present if file.old_id != file.new_id}


def _doubted(source: SourceFile, marks: Mapping[Trait, bool], scope: Scope) -> SourceFile:
    """The file with what of its traits nothing but somebody's word tells."""
    unproven = source.traits & SAID
    own = frozenset[Trait]() if scope.by_hand else unproven - marks.keys() - traits_of(source.base_path)
    return replace(source, unproven=unproven, claimed=own & traits_of(source.path)) if unproven else source


def _described(root: Path, file: ChangedFile) -> SourceFile:
    traits, size = traits_of(file.path), 0
    by_mode = {_LINK: Trait.LINK, _SUBMODULE: Trait.SUBMODULE}.get(file.new_mode)
    if by_mode:
        traits = frozenset({by_mode})
    else:
        # The tree is a snapshot of these files; asking git for the size would cost another process.
        with contextlib.suppress(OSError):  # gone meanwhile: the tree still has it
            size = _place(root, file.path).lstat().st_size
    return SourceFile.of(
        file.path,
        language_of(file.path),
        traits | {Trait.LARGE} if size > MAX_BYTES else traits,
        old=Revision(file.old_path or file.path) if file.old_mode in _REGULAR else None,
        added_lines=frozenset(file.added_lines),
        size=size,
    )


def _within_bounds(root: Path, sources: list[SourceFile]) -> list[SourceFile]:
    """The sources; where they are too much for one run, the largest are unread, and binaries known as such."""
    if sum(_cost(each) for each in sources) <= RUN_BYTES:
        return sources
    sources = [_probed(root, each) for each in sources]
    total, beyond = 0, set()
    for source in sorted(sources, key=lambda each: (each.size, each.path)):
        if Trait.BINARY not in source.traits:
            total += _cost(source)
            if total > RUN_BYTES:
                beyond.add(source.path)
    return [replace(each, traits=each.traits | {Trait.UNREAD}) if each.path in beyond else each for each in sources]


def _cost(source: SourceFile) -> int:
    return min(source.size, READ_BYTES)


def _probed(root: Path, source: SourceFile) -> SourceFile:
    head = _beginning(root, source.path, _PROBE_BYTES) or b""
    binary = Trait.BINARY in content_traits.traits("", head)
    return replace(source, traits=source.traits | {Trait.BINARY}) if binary else source


def _loaded(root: Path, source: SourceFile, contents: Mapping[str, bytes]) -> SourceFile:
    """The source with its content, in UTF-8 if it is Python; of a large file with its beginning."""
    if source.traits & _UNREAD:
        return source
    large = Trait.LARGE in source.traits
    content = _beginning(root, source.path, READ_BYTES) if large else contents.get(source.path)
    if content is None:
        return replace(source, traits=source.traits | {Trait.UNREAD})
    language = language_of(source.path, content)
    new = Revision(source.path, language, content if large else in_utf8(language, content))
    return replace(source, new=new)


def _beginning(root: Path, path: str, length: int) -> bytes | None:
    # What stands there may have become a link or a pipe since the snapshot was taken.
    with contextlib.suppress(OSError), os.fdopen(os.open(_place(root, path), _READ), "rb") as file:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return file.read(length)
    return None


def _recognised(source: SourceFile, marks: Mapping[Trait, bool]) -> SourceFile:
    """The file with the traits that its content shows; what the project declares wins over the file's name."""
    if source.traits & {Trait.LINK, Trait.SUBMODULE}:
        return source
    traits = source.traits | content_traits.traits(source.language, source.content)
    if marks.get(Trait.GENERATED) is False:
        traits -= {Trait.MINIFIED}
    traits = (traits - {trait for trait, holds in marks.items() if not holds}) | {
        t for t, holds in marks.items() if holds
    }
    return replace(source, traits=traits)


def _with_past(source: SourceFile, before: Mapping[str, bytes]) -> SourceFile:
    """The source with the base's content, in UTF-8 as that of now."""
    if source.old is None or source.base_path not in before or source.traits & _UNREAD:
        return source
    content = in_utf8(source.language, before[source.base_path])
    return replace(source, old=Revision(source.base_path, source.language, content))


def _without_own_word(source: SourceFile, marks: Mapping[Trait, bool]) -> SourceFile:
    """Take away what only the changed content says of itself, and the base's content and attributes do not.

    Or else an agent would write `@generated` above its code and be judged no more.
    """
    unproven = _claimed(source) - set(marks)
    if unproven:
        unproven -= content_traits.traits(source.language, source.was.content)
    return replace(source, traits=source.traits - unproven) if unproven else source


def _claimed(source: SourceFile) -> set[Trait]:
    """The traits that the content alone gives a file."""
    return set(source.traits & {Trait.GENERATED, Trait.MINIFIED}) - traits_of(source.path)


def _place(root: Path, path: str) -> Path:
    return root / os.fsdecode(encode(path))
