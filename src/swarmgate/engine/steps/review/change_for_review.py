"""Renders a change for its judges, most important files first, and lists what they have to see."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from swarmgate.domain.review.change import ChangedFile, ChangeKind, ChangeSet
from swarmgate.engine.context import Context
from swarmgate.gates.project.files import Trait, language_of, traits_of
from swarmgate.gates.source.behaviour import is_code
from swarmgate.workspace.git.changes.patches import FilePatch, by_file

_RECIPES = frozenset({"cmake", "dockerfile", "html", "makefile", "terraform"})
"""Languages that are no code by `is_code`, and run all the same."""
_RECIPE_ENDINGS = (".mdx", ".mk", ".bzl", ".cmake", ".csproj", ".fsproj", ".props", ".targets")
_SETTINGS = frozenset({"ini", "json", "jsonc", "toml", "xml", "yaml"})
_MANIFESTS = frozenset({"cargo.toml", "composer.json", "package.json", "pom.xml", "pyproject.toml", "setup.cfg"})
_EXECUTABLE, _LINK = "100755", "120000"


def must_see(file: ChangedFile) -> bool:
    """Whether nobody may approve a change without having seen what it does to this file.

    That is code by its name, wherever it lies, what the mode makes a program, what builds or steers programs, links,
    and what has no ending. It is not prose, data, lock files, pictures; nor a file that is gone, which the list names.
    """
    if file.kind is ChangeKind.DELETED or Trait.LOCK in traits_of(file.path):
        return False
    place = PurePosixPath(file.path)
    language = language_of(file.path, b"")
    if {file.old_mode, file.new_mode} & {_EXECUTABLE, _LINK} or is_code(file.path) or not place.suffix:
        return True
    name = place.name.lower()
    if language in _RECIPES or name.endswith(_RECIPE_ENDINGS) or name.startswith("requirements"):
        return True
    at_top = len(place.parts) == 1 or any(part.startswith(".") for part in place.parts)
    return language in _SETTINGS and (at_top or name in _MANIFESTS)


def in_order(ctx: Context, change: ChangeSet) -> tuple[tuple[FilePatch, bool], ...]:
    """The changes of the files, with whether they have to be seen: those first, then what is gone, then the rest."""
    patches = by_file(
        ctx.repository.patch(change.base, change.tree),
        change,
        ctx.repository.read_many,
        lambda file: not file.binary or must_see(file),
    )
    judged = ((patch, must_see(patch.file)) for patch in patches)
    return tuple(sorted(judged, key=lambda each: (not each[1], each[0].file.exists, each[0].path)))


def listed(files: Sequence[tuple[FilePatch, bool]]) -> str:
    """The change as one diff, with the list of its files before it: a cut at the end can then hide no code."""
    heads = (each.file for each, _ in files)
    names = "\n".join(f"{file.kind}: {file.path} (+{file.added} -{file.removed})" for file in heads)
    return f"{names}\n\n{''.join(each.text for each, _ in files)}"


def listed_patch(ctx: Context, change: ChangeSet) -> str:
    """The change for those who judge no more of it than what a brief holds."""
    return listed(in_order(ctx, change))
