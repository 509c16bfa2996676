"""Reads `.gitattributes`: which files the project marks as generated, vendored or documentation.

The files of one tree alone are read, by git itself: a change cannot take its own files out of the gates' sight, nor can
`.git/info/attributes` or the user's own attributes, which no reviewer ever sees.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from swarmgate.gates.project.files import Trait
from swarmgate.workspace.files import paths
from swarmgate.workspace.git.driver import call, failure
from swarmgate.workspace.process import temporary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from swarmgate.workspace.git.repository import Repository

_TRAITS = {
    "linguist-generated": Trait.GENERATED,
    "linguist-vendored": Trait.VENDORED,
    "linguist-documentation": Trait.DOC,
}
_FALSE = {b"unset", b"false"}
_UNKNOWN = b"unspecified"
_NAME = ".gitattributes"


def declared(repository: Repository, tree: str, wanted: Iterable[str]) -> Mapping[str, Mapping[Trait, bool]]:
    """For each path that `.gitattributes` of `tree` speak of: the traits that they give it (True) or take away (False).

    Raises:
        WorkspaceError: git failed.
    """
    names = list(wanted)
    rules = repository.read_many(tree, sorted(places(names)))
    if not rules:
        return {}
    found: dict[str, dict[Trait, bool]] = {}
    records = _checked(rules, b"".join(paths.encode(name) + b"\0" for name in names)).split(b"\0")[:-1]
    for raw, attribute, value in zip(records[::3], records[1::3], records[2::3], strict=True):
        if value != _UNKNOWN:
            found.setdefault(paths.decode(raw), {})[_TRAITS[attribute.decode()]] = value not in _FALSE
    return found


def places(names: Iterable[str]) -> set[str]:
    """The `.gitattributes` that can hold for these paths."""
    places = {_NAME}
    for name in names:
        parts = paths.encode(name).split(b"/")[:-1]
        places |= {paths.decode(b"/".join((*parts[:end], _NAME.encode()))) for end in range(1, len(parts) + 1)}
    return places


def _checked(rules: Mapping[str, bytes], listing: bytes) -> bytes:
    """What `git check-attr` says in a repository that has these `.gitattributes` and nothing else."""
    with temporary.folder("attributes") as folder:
        git, top = folder / "git", folder / "top"
        # The least that git takes for a repository; `git init` would be one more process.
        for part in ("objects", "refs"):
            (git / part).mkdir(parents=True)
        (git / "HEAD").write_bytes(b"ref: refs/heads/main\n")
        top.mkdir()
        for path, content in rules.items():
            place = top / os.fsdecode(paths.encode(path))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        here = {"GIT_DIR": str(git), "GIT_WORK_TREE": str(top), "GIT_ATTR_NOSYSTEM": "1"}
        asking = ("-c", "core.attributesFile=/dev/null", "check-attr", "-z", "--stdin", *_TRAITS)
        code, out, err = call(top, *asking, stdin=listing, env=here)
    if code:
        raise failure("check-attr", err)
    return out
