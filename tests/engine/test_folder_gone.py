"""`.swarm/` is taken away while a run is at work: nothing is made anew in its place, and it goes on when it is back."""

from __future__ import annotations

import pytest
from tests.project import Project, plan, until

from swarmgate.domain.state.state import TaskStatus

pytestmark = pytest.mark.suite("unittest")


@pytest.mark.slow
@pytest.mark.parametrize("file", [False, True])
def test_a_run_whose_folder_is_taken_away_ends_and_says_so(project: Project, *, file: bool) -> None:
    project.planned(plan("1.1", "1.2"))
    assert project.server is not None
    project.server.latency_s = 0.2
    process = project.start("run")
    until(lambda: project.briefs("coder", "code"))
    away = project.root.parent / "away"
    project.folder.path.rename(away)
    if file:
        project.folder.path.write_text("x")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2, err
    assert ".swarm is gone, and was there when this began" in err
    assert "Move .swarm back to where it was, then go on with: swarm run" in err
    assert "is back" not in err
    assert not project.folder.path.is_dir()
    project.folder.path.unlink(missing_ok=True)
    away.rename(project.folder.path)
    project.server.latency_s = 0
    project.swarm("run", exits=3)
    assert project.state.task("1.2").status is TaskStatus.COMPLETE
    assert project.json("verify")["passed"]
