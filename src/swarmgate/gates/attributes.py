"""What a project says of its files in `.gitattributes`: generated, vendored, documentation (linguist's attributes).

The files of one tree alone are read, by git itself: a change cannot take its own files out of the gates' sight.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from swarmgate.gates.files import Trait
from swarmgate.workspace import paths
from swarmgate.workspace.driver import Driver

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_TRAITS = {
    "linguist-generated": Trait.GENERATED,
    "linguist-vendored": Trait.VENDORED,
    "linguist-documentation": Trait.DOC,
}
_FALSE = {b"unset", b"false"}
_UNKNOWN = b"unspecified"
_ARGUMENTS = 500
"""Up to how many paths go to git as arguments; beyond, the whole tree is listed."""


def declared(root: Path, tree: str, wanted: Iterable[str]) -> Mapping[str, Mapping[Trait, bool]]:
    """For each path that `.gitattributes` of `tree` speak of: the traits that they give it (True) or take away (False).

    Raises:
        WorkspaceError: git failed.
    """
    names = list(wanted)
    git = Driver(root)
    entries = _attribute_files(git, tree, names)
    if not entries:
        return {}
    found: dict[str, dict[Trait, bool]] = {}
    with git.index(copied=False) as index:
        git.run("update-index", "-z", "--index-info", index=index, stdin=b"".join(entries))
        listing = b"".join(paths.encode(name) + b"\0" for name in names)
        said = git.run("check-attr", "--cached", "-z", "--stdin", *_TRAITS, index=index, stdin=listing)
    records = said.split(b"\0")[:-1]
    for raw, attribute, value in zip(records[::3], records[1::3], records[2::3], strict=True):
        if value != _UNKNOWN:
            found.setdefault(paths.decode(raw), {})[_TRAITS[attribute.decode()]] = value not in _FALSE
    return found


def _attribute_files(git: Driver, tree: str, names: Iterable[str]) -> list[bytes]:
    """The `.gitattributes` that can hold for these paths, as lines for `git update-index`."""
    folders = {b""}
    for name in names:
        parts = paths.encode(name).split(b"/")[:-1]
        folders |= {b"/".join(parts[:end]) + b"/" for end in range(1, len(parts) + 1)}
    if len(folders) > _ARGUMENTS:
        records = git.records("ls-tree", "-r", "-z", tree)
        return [record + b"\0" for record in records if record.endswith((b"/.gitattributes", b"\t.gitattributes"))]
    asked = [os.fsdecode(folder + b".gitattributes") for folder in sorted(folders)]
    return [record + b"\0" for record in git.records("ls-tree", "-z", tree, "--", *asked)]
