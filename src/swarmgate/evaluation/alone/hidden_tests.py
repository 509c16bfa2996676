"""Decides whether a task is resolved: its hidden tests run over the files that an arm left, in a clean checkout."""

from __future__ import annotations

import shutil
from pathlib import Path

from swarmgate.config import Config, ProjectTests
from swarmgate.domain.review.evidence import TestRun
from swarmgate.errors import UsageError
from swarmgate.evaluation.patches.dataset import Instance
from swarmgate.gates.confinement import confined
from swarmgate.workspace.checkout.checkout import checked_out
from swarmgate.workspace.detect import detect
from swarmgate.workspace.git.copies.single_commit import apply_patch, lay_out
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.process import temporary
from swarmgate.workspace.test_runs.suites import TEST_FILE, suites_of


async def judged(place: Path, clone: Path, instance: Instance, config: Config) -> TestRun:
    """The run of the hidden tests. Their files are as the data has them, whatever the arm made of them.

    The run has canaries, so that a change which has all tests pass resolves nothing.

    Args:
        place: the repository as the arm left it.
        clone: a repository with the base of the task.
        instance: the task.
        config: the settings: commands, and how tests are run.

    Raises:
        UsageError: the hidden tests do not apply to their base, or nobody knows how the project is tested.
        WorkspaceError: git failed.
    """
    files = _brought(place, clone, instance)
    repository = Repository.discover(place)
    tree = repository.snapshot()
    settings = ProjectTests(command=instance.test_command) if instance.test_command else config.tests
    suites = suites_of(settings, detect(place, repository.list_tree(tree)).test_command)
    if not suites.suites:
        raise UsageError(
            f"{instance.instance_id}: no test command was detected", hint="Give the instance the key `test_command`."
        )
    paths = tuple(path for path in files if TEST_FILE.search(path)) if suites.alone(place) else ()
    commands = confined(place, config.commands)
    with checked_out(place, tree, sandbox=commands.sandbox) as made:
        return await suites.run(made.runner(commands), paths)


def _brought(place: Path, clone: Path, instance: Instance) -> tuple[str, ...]:
    """Puts the files of the hidden tests in place; returns those that are there."""
    with temporary.folder("hidden") as truth:
        lay_out(clone, instance.base_commit, truth, apart=False)
        if problem := apply_patch(truth, instance.test_patch):
            raise UsageError(f"{instance.instance_id}: key 'test_patch' does not apply: {problem}")
        kept = []
        for path in instance.test_files:
            target = place / path
            if (truth / path).is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(truth / path, target)
                kept.append(path)
            else:
                target.unlink(missing_ok=True)
        return tuple(kept)
