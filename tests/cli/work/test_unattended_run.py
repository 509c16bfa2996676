"""Tests `swarm run` that nobody attends: how far it goes, what it approves itself, and where that stands."""

from __future__ import annotations

import json

import pytest
from tests.misbehaviour.case import case
from tests.project import Project, critic, plain, plan, rule, verdict

from swarmgate.cli.work.run_loop import nobody_looked
from swarmgate.domain.events import event as ev

pytestmark = [pytest.mark.suite("unittest"), pytest.mark.slow]

OPTION = "swarm run --until done"


def test_until_done_goes_over_plan_and_phases_and_says_so_everywhere(project: Project) -> None:
    project.play(plan("1.1", "2.1"))
    project.swarm("plan", "Add parts", exits=3)
    ended = project.json("run", "--until", "done")
    assert (ended["waiting"], ended["unseen"]) == ("nothing", [1, 2])
    assert [each.by for each in project.events(ev.PlanApproved)] == [OPTION]
    assert [(each.phase, each.by) for each in project.events(ev.PhaseApproved)] == [(1, OPTION), (2, OPTION)]
    assert f"<!-- swarm plan: approved without a person by {OPTION} -->" in project.plan_md
    assert project.plan_md.count(f"\n- Approved without a person by {OPTION}\n") == 2
    shown = json.loads(project.folder.plan_json.read_text())
    assert [shown["approved_by"], *(each["approved_by"] for each in shown["phases"])] == [OPTION] * 3
    context = project.folder.context.read_text()
    assert f"## Approved without a person\n\n- The plan: {OPTION}\n- Phase 1: {OPTION}\n" in context
    assert f"Without a person, by {OPTION}" in (project.folder.history / "phase-1.md").read_text()
    assert f"phase 1 approved without a person, by {OPTION}" in project.swarm("history").stdout
    status = project.swarm("status").stdout
    assert f"Phase 2: Phase 2 - COMPLETE (1 complete), approved without a person: {OPTION}" in status
    assert f"plan approved without a person: {OPTION}" in status
    assert f"phase 1 was approved without a person: {OPTION}" in project.swarm("handoff").stdout
    project.swarm("verify")

    # that is a record: no edit says otherwise
    for begin, end in (("<!-- swarm plan: a", " -->"), ("- A", "")):
        text, line = project.plan_md, f"{begin}pproved without a person by {OPTION}{end}\n"
        assert line in text
        project.folder.plan_md.write_text(text.replace(line, "", 1))
        assert "It is a record and stays as it was." in plain(project.swarm("sync", exits=1).stdout)
        assert line in project.plan_md


def test_settings_approve_phases_up_to_a_bound_and_until_phase_goes_before(project: Project) -> None:
    project.planned(plan("1.1", "2.1", "3.1"), approve={"auto": ["phase"], "phases_in_a_row": 1})
    project.swarm("run", "--until", "phase", exits=3)
    assert project.events(ev.PhaseApproved) == []
    ended = project.swarm("run", exits=3).stdout
    assert [(each.phase, each.by) for each in project.events(ev.PhaseApproved)] == [(1, "[approve] auto")]
    assert "Phase 2 is done and waits for your approval" in ended
    assert "Nobody looked at phase 1: .swarm/history/ has its page." in ended
    assert "It waits for you: phases in a row that nobody looked at: 1 ([approve] phases_in_a_row)." in ended
    project.swarm("approve")
    assert [each.by for each in project.events(ev.PhaseApproved)] == ["[approve] auto", ""]
    project.swarm("run")
    assert "approve.auto" in project.swarm("doctor").stdout


def test_a_plan_that_the_critic_rejects_and_a_blocked_task_wait_for_a_person(project: Project) -> None:
    objects = critic("REJECTED", "too large")
    project.play(objects, approve={"auto": ["plan", "phase"]})
    project.swarm("plan", "Add parts", exits=3)
    for more in ((), ("--until", "done")):
        assert "It waits for you: the critic objects to it." in project.swarm("run", *more, exits=3).stdout
    project.swarm("approve")
    project.play(rule("reviewer", "review", [verdict("REJECTED", "no")]), loop={"max_rejections": 1})
    assert project.json("run", "--until", "done", exits=1)["waiting"] == "blocked_task"
    assert project.events(ev.PhaseApproved) == []


@case(
    "order",
    "a run that nobody attends (`[approve] auto`, `--until done`) comes to a phase that its reviewers rejected",
    "it waits for the user, also once the rejection is overruled: the fold takes no approval without a person",
)
def test_a_phase_that_its_reviewers_rejected_waits_for_a_person(project: Project) -> None:
    rejects = [verdict("REJECTED", "dead code")]
    seat = rule("reviewer", "validate_phase", rejects, participant="reviewer-1")
    project.planned(plan("1.1", "2.1"), seat, phase={"validate": 1}, approve={"auto": ["plan", "phase"]})
    assert project.json("run", "--until", "done", exits=1)["waiting"] == "phase_rejected"
    project.swarm("override", "1", "--reason", "I can tell")
    ended = project.swarm("run", "--until", "done", exits=3).stdout
    assert "It waits for you: its reviewers rejected it." in ended
    assert project.events(ev.PhaseApproved) == []
    project.swarm("approve")
    assert [each.by for each in project.events(ev.PhaseApproved)] == [""]


def test_a_word_that_is_none_of_them_is_refused(project: Project) -> None:
    assert "'phase', 'blocked', 'done'" in plain(project.swarm("run", "--until", "dawn", exits=2).stderr)


def test_the_phases_that_nobody_looked_at_are_told_in_a_sentence() -> None:
    assert nobody_looked([2]) == "Nobody looked at phase 2: .swarm/history/ has its page."
    assert nobody_looked([1, 2]) == "Nobody looked at phases 1, 2: .swarm/history/ has their pages."
