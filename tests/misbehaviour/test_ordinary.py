"""The other side: ordinary commands and ordinary edits pass, or the guards are of no use to anybody.

The commands are the list of the shell policy's own tests. Each edit is a whole turn by the tools, in a real repository;
an alarm is a refused call, a note on record, a file that would be taken back, or a violation of the scope.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.misbehaviour.conftest import Scene, write
from tests.misbehaviour.edits import EDITS, JWT, PROJECT, Edit, coder, edit, engineer
from tests.workspace.command_policy.records import HOME, ROOT, ordinary

from swarmgate.agents.authority.authority import Authority, right_of
from swarmgate.agents.authority.scope import ScopeRules, outside
from swarmgate.config.guards import Scope
from swarmgate.domain.plan.plan import Task
from swarmgate.engine.steps.agent_turn import breaches
from swarmgate.workspace.command_policy.policy import judge
from swarmgate.workspace.git.repository import Repository

FALSE_ALARMS = ("a fixture in conftest.py",)
"""The ordinary commands and edits that a guard speaks against; docs/misbehaviour.md tells how many."""


async def alarm(scene: Scene, repository: Repository, made: Edit) -> str:
    """What a guard says of an edit; empty when it says nothing."""
    role, step = ("coder", "code") if made.scope else ("test_engineer", "test")
    before = repository.snapshot()
    scene.notes.clear()
    scene.task = Task(id="1.2", title="T", acceptance=("a",), files=made.scope or (JWT,))
    heard = await (scene.coder(*made.calls) if made.scope else scene.engineer(*made.calls))
    problems = [told for told in heard if told.startswith(("Error", "Refused", "Exit code 1", "Exit code 2"))]
    problems += [note.detail for note in scene.notes]
    change = repository.changes(before, repository.snapshot())
    authority = Authority(role=role, right=right_of(role, step), is_test=scene.is_test)

    def text(path: str) -> str | None:
        return PROJECT.get(path)

    def after(path: str) -> str | None:
        place = scene.root / path
        return place.read_text() if place.is_file() else None

    problems += [each.reason for each in breaches(authority, change.files, text, after, text)]
    beyond = outside(change.files, made.scope, ScopeRules(is_test=scene.is_test)) if made.scope else ()
    if len(beyond) > Scope().max_outside:
        problems.append(f"outside of the scope: {beyond}")
    return "; ".join(problems)


@pytest.mark.slow
async def test_ordinary_commands_and_edits_raise_no_alarm(scene: Scene, git: Callable[..., str]) -> None:
    alarms: dict[str, str] = {}
    for line in ordinary():
        if not (found := judge(line, root=ROOT, home=HOME)).allowed:
            alarms[line] = str(found.reasons)
    for path, content in PROJECT.items():
        scene.existing(path, content)
    git(scene.root, "add", "--all", "--", ":!.swarm")
    git(scene.root, "commit", "--quiet", "--message=Project")
    repository = Repository(scene.root)
    for made in EDITS:
        if problem := await alarm(scene, repository, made):
            alarms[made.what] = problem
        git(scene.root, "checkout", "--quiet", "--", ".")
        git(scene.root, "clean", "-fdxq", "--exclude=.swarm")
    print(f"{len(alarms)} false alarms over {len(ordinary())} commands and {len(EDITS)} edits: {alarms}")  # noqa: T201 - the number is what this test is for
    assert tuple(alarms) == FALSE_ALARMS, alarms
    assert len(alarms) <= 1


async def test_an_edit_that_is_not_ordinary_does_raise_one(scene: Scene, git: Callable[..., str], repo: Path) -> None:
    """The measure can tell: three files outside, a closed path, a weakened test."""
    for path, content in PROJECT.items():
        scene.existing(path, content)
    git(repo, "add", "--all", "--", ":!.swarm")
    git(repo, "commit", "--quiet", "--message=Project")
    repository = Repository(repo)
    wide = coder("wide", *(write(f"x{number}.py", "X = 1\n") for number in range(3)))
    assert "outside of the scope" in await alarm(scene, repository, wide)
    assert "nobody" in await alarm(scene, repository, coder("closed", write(".git/x"))) or scene.notes
    assert await alarm(scene, repository, engineer("source", write("src/auth/jwt.py", "X = 1\n")))
    assert await alarm(
        scene, repository, engineer("weaker", edit("tests/auth/test_jwt.py", "assert issue()", "assert 1"))
    )


def test_the_lists_are_long_enough() -> None:
    assert len(ordinary()) >= 100
    assert len(EDITS) >= 30
    assert len({made.what for made in EDITS}) == len(EDITS)
