"""Pairs the old and new revision of every changed file for the API comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.domain.review.change import ChangeKind
from swarmgate.gates.project.files import MAX_BYTES, Trait, language_of, traits_of
from swarmgate.gates.source.file import Revision, SourceFile

if TYPE_CHECKING:
    from swarmgate.domain.review.change import ChangeSet
    from swarmgate.gates.project.index import Project

_REGULAR = ("100644", "100755", "100664")
_NO_CONTRACT = {Trait.VENDORED, Trait.GENERATED, Trait.LOCK}


def pairs(project: Project, change: ChangeSet, languages: frozenset[str]) -> list[SourceFile]:
    """The changed, deleted, added and renamed source files of these languages, with the content of both sides."""
    wanted = []
    for file in change.files:
        old = (file.old_path or file.path) if file.old_mode in _REGULAR else ""
        new = file.path if file.new_mode in _REGULAR and file.kind is not ChangeKind.DELETED else ""
        old, new = (path if _source(path, languages) else "" for path in (old, new))
        if (old or new) and not file.binary:
            wanted.append((old, new))
    if not any(old for old, _ in wanted):
        return []  # what is only added breaks no contract
    before = project.base.contents([old for old, _ in wanted if old])
    after = project.head.contents([new for _, new in wanted if new])
    return [SourceFile(_side(old, before), _side(new, after)) for old, new in wanted]


def _source(path: str, languages: frozenset[str]) -> bool:
    return bool(path) and language_of(path) in languages and not traits_of(path) & _NO_CONTRACT


def _side(path: str, contents: dict[str, bytes]) -> Revision | None:
    content = contents.get(path)
    if content is None or len(content) > MAX_BYTES:
        return None
    return Revision(path, language_of(path), content)
