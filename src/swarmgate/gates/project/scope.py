"""Which files a gate run judges, as a whole or by their change, and whether `@generated` in a new one is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.domain.base import Frozen
from swarmgate.domain.review.change import ChangeKind, ChangeSet
from swarmgate.gates.project import installed_packages
from swarmgate.workspace.git import revisions

if TYPE_CHECKING:
    from swarmgate.domain.review.change import ChangedFile
    from swarmgate.workspace.git.repository import Repository


class Scope(Frozen):
    """The scope of a gate run.

    `paths`: only these files, and those below these folders; empty means all. `whole`: every one of them as if it were
    new, instead of what differs from the base. `reference`: the tree whose `.gitattributes` hold and by which it is
    told what was formatted before; empty means the base. `by_hand`: a person asks, not the loop about an agent's work:
    then a marker such as `@generated` in a new file is believed.
    """

    paths: tuple[str, ...] = ()
    whole: bool = False
    reference: str = ""
    by_hand: bool = False

    def change(self, repository: Repository, base: str, tree: str) -> ChangeSet:
        """What is judged of `tree`: neither installed packages nor build output, where nobody tracks them."""
        change = revisions.everything(base, tree, repository) if self.whole else repository.changes(base, tree)
        found = installed_packages.folders(repository, tree, change.files)
        if found:
            inside = tuple(f"{folder}/" for folder in found)
            files = tuple(file for file in change.files if not file.path.startswith(inside))
            change = change.model_copy(update={"files": files, "installed": found})
        return self._within(change)

    def change_to_fix(self, repository: Repository, change: ChangeSet) -> ChangeSet:
        """The scope as a change against the reference, for gates that fix files."""
        if not self.whole or not self.reference:
            return change
        past = set(repository.list_tree(self.reference))
        files = tuple(_edited(file) if file.path in past else file for file in change.files)
        return ChangeSet(base=self.reference, tree=change.tree, files=files)

    def _within(self, change: ChangeSet) -> ChangeSet:
        if not self.paths:
            return change
        files = tuple(file for file in change.files if any(self.holds(path) for path in file.touched))
        return change.model_copy(update={"files": files})

    def holds(self, path: str) -> bool:
        """Whether a path is among those that are judged."""
        return not self.paths or any(path == each or path.startswith(f"{each}/") or each == "." for each in self.paths)


def _edited(file: ChangedFile) -> ChangedFile:
    return file.model_copy(update={"kind": ChangeKind.MODIFIED, "old_mode": file.new_mode})
