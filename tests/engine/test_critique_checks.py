"""Commands and gates judge versions over a copy: real programs, real gates, and a work tree that nothing touches."""

from __future__ import annotations

from typing import Any

import pytest
from tests.project import Project

from swarmgate.council.critique.model import Critique, Score
from swarmgate.council.critique.program_checks import Unchecked
from swarmgate.council.critique.request import critique_of, target_in
from swarmgate.engine import Swarm
from swarmgate.engine.critique_checks import ProjectChecks
from swarmgate.errors import CouncilRefused, MissingRequirement, UnsafePath

BROKEN = "def f(:\n    pass\n"
SOUND = '"""A part."""\n\nVALUE = 1\n'


def critique(target: str = "src/calc/part.py", **criterion: Any) -> Critique:
    return critique_of(id="k1", task="t", target=target, criteria=[{"name": "c", **criterion}], timeout_s=20)


async def check(project: Project, version: str, target: str = "src/calc/part.py", **criterion: Any) -> Score:
    asked = critique(target, **criterion)
    before = project.git("status", "--porcelain")
    checks = ProjectChecks.of(Swarm(project.root).project, asked)
    try:
        return await checks.check(asked.criteria[0], asked, version)
    finally:
        assert project.git("status", "--porcelain") == before


async def test_a_command_judges_the_version_in_a_copy_of_the_work_tree(project: Project) -> None:
    project.configure()
    project.write("notes.txt", "uncommitted\n")
    command = "cat notes.txt && grep -n VALUE src/calc/part.py && touch src/calc/left-behind && exit {}"
    passed = await check(project, "VALUE = 1", command=command.format(0))
    assert (passed.score, passed.reason) == (1.0, "exit code 0\nuncommitted\n1:VALUE = 1")
    failed = await check(project, "VALUE = 1", command=command.format(3))
    assert (failed.score, failed.reason.splitlines()[0]) == (0.0, "exit code 3")
    assert not (project.root / "src/calc/part.py").exists()
    assert not (project.root / "src/calc/left-behind").exists()


async def test_what_could_not_be_started_is_no_score_and_what_the_version_lacks_is(project: Project) -> None:
    project.configure()
    with pytest.raises(Unchecked, match=r"c: `no-such-program` cannot be run"):
        await check(project, "x", command="no-such-program --quiet")
    script = await check(project, "missing-inside", target="go.sh", command="sh go.sh")
    assert (script.score, "missing-inside" in script.reason) == (0.0, True)


@pytest.mark.slow
async def test_a_version_that_hangs_is_not_met(project: Project) -> None:
    project.configure(commands={"timeout_s": 1})
    hung = await check(project, "sleep 60", target="go.sh", command="sh go.sh")
    assert (hung.score, hung.reason) == (0.0, "it did not end within 1 s")


async def test_a_gate_judges_the_file_whole(project: Project) -> None:
    project.configure()
    project.write("src/calc/other.py", BROKEN)  # is not what is judged
    assert (await check(project, SOUND, gate="syntax_check")).score == 1.0
    broken = await check(project, BROKEN, gate="syntax_check")
    assert broken.score == 0.0
    assert "src/calc/part.py:1" in broken.reason
    with pytest.raises(Unchecked, match=r"syntax_check gave no verdict \(SKIP\)"):
        await check(project, SOUND, target="part.unknown", gate="syntax_check")


async def test_a_gate_whose_tool_is_missing_is_never_a_pass(project: Project) -> None:
    project.configure()
    project.write(
        ".swarm/gates/own.toml",
        'title = "Own"\nrequired = false\ncommand = ["no-such-tool", "{files}"]\n',
    )
    with pytest.raises(Unchecked, match=r"own gave no verdict"):
        await check(project, SOUND, gate="own")


def test_targets_stay_in_the_repository(project: Project) -> None:
    assert target_in(project.root, "src/../src/./calc/x.py") == "src/calc/x.py"
    (project.root / "out").symlink_to(project.root.parent)
    for path in ("../x.py", "/etc/x", ".git/config", ".swarm/config.toml", "src", "out/x.py"):
        with pytest.raises(UnsafePath):
            target_in(project.root, path)


def test_what_can_never_be_checked_is_refused_at_once(project: Project) -> None:
    project.configure(commands={"sandbox": "sandbox-exec"})
    there = Swarm(project.root).project
    with pytest.raises(CouncilRefused, match="git ignores that file"):
        ProjectChecks.of(there, critique("__pycache__/x.py", gate="syntax_check"))
    with pytest.raises(MissingRequirement):
        ProjectChecks.of(there, critique(command="true"))
