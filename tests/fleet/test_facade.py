"""What a person decides about goals, from any machine; no database and no worker is needed for that to be on record."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fleet.remote import Remote
from tests.project import Project, call, plan, rule

from swarmgate.engine.swarm import Swarm
from swarmgate.errors import IllegalMove, RemoteAway, UsageError
from swarmgate.fleet.facade import Fleet
from swarmgate.fleet.goals import lease
from swarmgate.fleet.goals.checkout import checked_out
from swarmgate.fleet.goals.goal import Goal, Standing
from swarmgate.fleet.goals.publication import GoalPublication
from swarmgate.fleet.goals.submission import decide
from swarmgate.ledger.ledger import Ledger

pytestmark = pytest.mark.suite("unittest")


def fleet_flags(remote: Remote) -> dict[str, Any]:
    repository = {"remote": str(remote.path), "base": "main"}
    return {"fleet": {"home": str(remote.home), "repositories": {"calc": repository}}}


@pytest.fixture
def fleet(project: Project, remote: Remote) -> Fleet:
    return Fleet(project.root, flags=fleet_flags(remote))


def standing(fleet: Fleet) -> Standing:
    (row,) = fleet.status(all_goals=True).goals
    return row.standing


@pytest.mark.slow
def test_a_plan_is_revised_and_a_goal_abandoned(project: Project, remote: Remote, fleet: Fleet) -> None:
    project.play(plan("1.1"), plan("1.1", "1.2", step="revise"))
    goal = remote.submit()
    remote.advance(goal)
    assert standing(fleet) is Standing.WAITING
    assert fleet.revise(goal.id, "two parts").standing is Standing.DUE
    remote.advance(goal)
    assert fleet.show(goal.lock).status.waiting == "plan_approval"
    assert sum(fleet.show(goal.id).status.phases[0].tasks.values()) == 2
    assert fleet.abandon(goal.id, reason="no need").standing is Standing.DONE
    assert fleet.status().goals == ()
    with pytest.raises(IllegalMove, match="nothing to do"):
        fleet.retry(goal.id)


@pytest.mark.slow
def test_a_question_of_the_architect_is_answered(project: Project, remote: Remote, fleet: Fleet) -> None:
    project.play(rule("architect", "plan", [call("ask_user", questions=["Which unit?"])]))
    goal = remote.submit()
    remote.advance(goal)
    shown = fleet.show(goal.id)
    assert [each.text for each in shown.questions] == ["Which unit?"]
    assert fleet.answer(goal.id, 1, "metres").standing is Standing.DUE


@pytest.mark.slow
def test_a_decision_is_made_again_where_a_worker_was_faster(project: Project, remote: Remote) -> None:
    project.play(plan("1.1"))
    goal = remote.submit()
    remote.advance(goal)
    tries = []

    def approve(swarm: Swarm) -> tuple[str, ...]:
        tries.append(swarm.state.seq)
        if len(tries) == 1:
            with checked_out(remote.machine("other"), goal) as other:
                publication = GoalPublication(other)
                with Ledger.write(other.folder, publication=publication) as ledger:
                    lease.take(ledger, "faster")
        return swarm.approve()

    said, summary = decide(remote.site, goal, approve)
    assert (said, summary.standing) == (("the plan",), Standing.DUE)
    assert tries == [tries[0], tries[0] + 1]
    kinds = [line["event"]["type"] for line in remote.lines(goal)]
    assert kinds[-2:] == ["lease_taken", "plan_approved"]


@pytest.mark.slow
def test_a_decision_stands_in_the_ledger_by_the_name_of_who_made_it(
    project: Project, remote: Remote, fleet: Fleet
) -> None:
    project.git("config", "user.name", "Grace")
    goal = fleet.submit("Add parts").goal
    Fleet(project.root, flags=fleet_flags(remote), actor="user:ada").abandon(goal, reason="no need")
    told = [(line["event"]["type"], line["actor"]) for line in remote.lines(Goal.named(goal, ""))]
    assert told[-2:] == [("goal_set", "user:Grace"), ("goal_abandoned", "user:ada")]


def test_names_of_goals(fleet: Fleet, remote: Remote) -> None:
    assert Goal.named("calc:g-0123456789ab", "") == Goal("calc", "g-0123456789ab")
    assert Goal.named("g-0123456789ab", "calc") == Goal("calc", "g-0123456789ab")
    for text in ("g-0123456789ab", "calc:", "calc:g-1", "calc:../x"):
        with pytest.raises(UsageError, match="names no goal"):
            Goal.named(text, "")
    with pytest.raises(UsageError, match="There is no repository 'other'"):
        fleet.show("other:g-0123456789ab")
    with pytest.raises(RemoteAway):
        fleet.show("g-0123456789ab")


def test_an_empty_goal_and_a_fleet_without_repositories_are_refused(project: Project, remote: Remote) -> None:
    with pytest.raises(UsageError, match="There is no goal"):
        remote.submit("  ")
    with pytest.raises(UsageError, match="no repositories"):
        Fleet(project.root).status()
    project.configure(fleet={"database": "postgresql://me:secret@db/x"})
    told = project.swarm("fleet", "status", exits=2)
    assert "must not carry a password" in told.stderr
    assert "secret" not in told.stderr


def test_a_goal_brings_the_settings_of_who_submits_it(project: Project, remote: Remote) -> None:
    (project.folder.prompts / "coder.md").parent.mkdir(exist_ok=True)
    project.configure(loop={"max_rejections": 4})
    goal = remote.submit()
    with checked_out(remote.site, goal) as found:
        assert Swarm(found.root).config.loop.max_rejections == 4
        assert not (found.folder.path / "runtime" / "lock").exists()
        assert found.folder.plan_md.exists() is False
