"""Checks a delegation by the architect: it has to be one task's work, on files that this task may touch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from swarmgate.agents.conversation.toolbox import plain
from swarmgate.domain.plan.plan import Task, path_problem
from swarmgate.errors import UnsafePath
from swarmgate.workspace.file_tools.files import FileTree


@dataclass(frozen=True)
class Delegation:
    """What the architect hands to the coder for one task: the files it may touch, and what to do."""

    scope: tuple[str, ...]
    instructions: str


def shortest(files: Sequence[str]) -> tuple[str, ...]:
    """The paths in their shortest spelling, each once."""
    return tuple(dict.fromkeys(plain(path) if path.strip() else "" for path in files))


def scope_problems(task: Task, scope: Sequence[str], others: Mapping[str, Task], tree: FileTree) -> tuple[str, ...]:
    """Every reason to refuse the scope.

    Args:
        task: the task that is delegated.
        scope: the declared files, in their shortest spelling.
        others: the other open tasks by id.
        tree: tells where a path really leads.
    """
    if not scope:
        return (f"The scope is empty: declare the files of task {task.id}: {', '.join(task.files)}.",)
    owners = _owners(task, others)
    return tuple(problem for path in scope for problem in _path_problems(path, task, owners, tree))


def instruction_problems(task: Task, instructions: str, others: Mapping[str, Task]) -> tuple[str, ...]:
    """Every reason to refuse the instructions: empty, or naming another open task, or a file that only one has."""
    if not instructions.strip():
        return ("The instructions are empty: say what the coder has to do.",)
    one = f"One delegation is one task: speak of task {task.id} only."
    ids = (
        f"The instructions name {other}, the id of another open task. {one} (Is it a version number? Write v{other}.)"
        for other in others
        if other != task.id and _stands_in(other, instructions)
    )
    files = (
        f"The instructions name {path}, which is a file of task {other} and not of task {task.id}. {one}"
        for path, other in _owners(task, others).items()
        if _stands_in(path, instructions)
    )
    return (*ids, *files)


def _owners(task: Task, others: Mapping[str, Task]) -> dict[str, str]:
    """The files that only other open tasks list, each with the first such task."""
    own = set(shortest(task.files))
    owners: dict[str, str] = {}
    for other in others.values():
        for path in shortest(other.files):
            if path not in own and other.id != task.id:
                owners.setdefault(path, other.id)
    return owners


def _path_problems(path: str, task: Task, owners: Mapping[str, str], tree: FileTree) -> Iterator[str]:
    if problem := path_problem(path):
        yield f"The scope file {path!r} {problem}."
        return
    try:
        tree.resolve(path)
    except UnsafePath as error:
        yield f"The scope: {error.message}."
    if path in owners:
        yield (
            f"The scope file {path} belongs to task {owners[path]}, which is open, and not to task {task.id}. "
            "One delegation is one task: leave it out."
        )


def _stands_in(name: str, text: str) -> bool:
    """Whether an id or a path stands in the text as a word of its own: `1.3` not in `1.3.2`, `v1.3` or `11.3`."""
    return re.search(rf"(?<![\w./-])(?:\./)?{re.escape(name)}(?![\w/]|[.-]\w)", text) is not None
