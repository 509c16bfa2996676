"""What takes a while is begun by forms of a goal: gates, doctor, a pull request; and a task is taken back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.project import Project, plan, until
from tests.server.conftest import Running
from tests.server.pages.browsers import screen
from tests.server.pages.conftest import WORDS, Visitor, Visits

from swarmgate.domain.events import event as ev
from swarmgate.server.accounts.model import Role

pytestmark = pytest.mark.slow


@pytest.fixture
def goal(repo: str, project: Project) -> str:
    """The page of a goal whose only task is complete, and its phase approved."""
    project.play(plan("1.1"))
    project.swarm("plan", "Add parts", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    project.swarm("approve")
    return "/goals"


def over(visitor: Visitor, begun: str) -> str:
    """The page of an operation when it is over."""
    until(lambda: 'http-equiv="refresh"' not in visitor.get(begun), 90)
    return visitor.get(begun)


def test_gates_doctor_and_a_pull_request_are_begun_and_a_task_is_taken_back(
    visit: Visits, server: Running, goal: str, project: Project, tmp_path: Path
) -> None:
    ada, cy = visit("ada"), visit("cy", Role.VIEWER)
    place = re.findall(r'class="title" href="(/goals/[cg]-[0-9a-f]{12})"', ada.get(goal))[0]
    project.write("src/calc/leak.py", f'"""A leak."""\n\nTOKEN = "ghp_{"a1B2" * 9}"\n')
    gates = over(ada, ada.send(place, f"{place}/gates", what="change").headers["location"])
    assert "Rejected" in gates
    assert "src/calc/leak.py" in gates
    assert "ghp_a1B2" not in gates
    (project.root / "src/calc/leak.py").unlink()
    assert "git" in over(ada, ada.send(place, f"{place}/checks/doctor").headers["location"])
    described = over(
        ada, ada.send(place, f"{place}/pull-request", what="describe", title="Parts & more").headers["location"]
    )
    assert "<h2>Parts &amp; more</h2>" in described
    assert "Nothing was pushed." in described
    listed = ada.get(place)
    assert re.findall(r'href="/operations/[^"]+">([^<]+)<', listed) == [
        "Pull request",
        "Doctor",
        "Gates",
    ]
    looked = cy.get(place)
    assert "/operations/" in looked
    assert "Run the gates" not in looked
    assert cy.client_send(f"{place}/gates", what="all").status_code == 303
    assert cy.get(place).count('href="/operations/') == 3, "who may only look begins nothing"
    accounts = server.app.state.accounts
    accounts.set_password(accounts.create("eve", roles={"*": Role.OPERATOR}).id, WORDS)
    with screen(server.url, tmp_path / "profile", width=360) as at:
        at.open(f"/login?next={place}")
        at.fill("[name=name]", "eve")
        at.fill("[name=password]", WORDS)
        at.click("button", "Sign in")
        at.click("summary", "Run the gates")
        at.click("summary", "Pull request")
        at.picture("14-checks")
        at.click("#operations + .list a.title", "Gates")
        at.says("Rejected")
        at.picture("15-gates")
        at.open(f"{place}/tasks/1.1")
        at.click("summary", "Take the task back")
        at.picture("16-undo")
        assert at.said() == []
    task = f"{place}/tasks/1.1"
    unsure = ada.send(task, f"{place}/ways/undo", text="Not so.")
    assert "has to be confirmed" in ada.told(unsure)
    assert project.events(ev.TaskUndone) == []
    assert ada.told(ada.send(task, f"{place}/ways/undo", text="Not so.", sure="yes")).startswith(
        "The task was taken back"
    )
    (undone,) = project.events(ev.TaskUndone)
    assert undone.reason == "Not so."
    assert "Take the task back" not in cy.get(task)
    assert "has to be confirmed" in ada.told(ada.send(place, f"{place}/abandon", text="Enough."))
