"""Reviews and plans by debate, over the whole loop: what is debated, what that means, and what comes of failures."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.project import GOAL, Project, Rule, code, critic, part, plain, plan, review, rule, task, until

from swarmgate.domain import events as ev
from swarmgate.domain.contest import DebateWorth
from swarmgate.domain.debate import Vote
from swarmgate.domain.evidence import Verdict
from swarmgate.domain.state import Planning, TaskStatus
from swarmgate.ledger import debate_worth
from swarmgate.ledger.debates import DebateFiles

TWO: dict[str, dict[str, Any]] = {
    "roles__critic": {"model": "local/critical"},
    "prices__critical": {"input": 1, "output": 2},
}
ID = "task-1.1-attempt-1"
LOGIN = '"""Who is there."""\n\n\ndef login(name: str) -> str:\n    """Say who."""\n    return name.strip()\n'


def ballot(vote: str, reason: str = "it is so", confidence: float = 0.9, cites: tuple[str, ...] = ()) -> str:
    given = {"verdict": vote, "confidence": confidence, "reasons": [{"text": reason, "cites": list(cites)}]}
    return f"I have thought.\nFINAL_VERDICT:\n{json.dumps(given)}"


def votes(seat: str, vote: str, reason: str = "it is so", **match: Any) -> Rule:
    match = {"participant": seat, "round": "2", **match}
    return rule("participant", "debate", {"text": ballot(vote, reason)}, **match)


def speaks(text: str = "The value {{participant}} looks at is right.", **match: Any) -> Rule:
    return rule("participant", "debate", {"text": text}, **match)


def synthesis(
    verdict: str,
    summary: str = "WEIGHED",
    reason: str = "as was said",
    cites: tuple[str, ...] = ("r2-msg-001", "r2-msg-002"),
    dissent: str = "",
    **match: Any,
) -> Rule:
    given = {
        "verdict": verdict,
        "summary": summary,
        "reasons": [{"text": reason, "cites": list(cites)}],
        "dissent": [{"text": dissent, "cites": ["r1-msg-002"]}] if dissent else [],
    }
    return rule("architect", "synthesize", {"text": json.dumps(given)}, **match)


def looks(vote: str, confidence: float = 0.9, text: str = "") -> Rule:
    return rule("participant", "first_look", {"text": text or ballot(vote, confidence=confidence)})


AGREED = (speaks(), votes("advocate", "APPROVE"), votes("challenger", "APPROVE"), synthesis("APPROVE"))
OPPOSED = (speaks(), votes("advocate", "REJECT"), votes("challenger", "REJECT", "no exp claim"), synthesis("REJECT"))


def debating(mode: str = "debate", **more: Any) -> dict[str, dict[str, Any]]:
    quick = {"skip": ["sast_scan", "quality_budget"]}  # the latter wants tests for a LARGE change
    return {**TWO, "review": {"mode": mode, "plan_mode": "single", **more}, "gates": quick}


def weighed(project: Project) -> list[ev.DebateWeighed]:
    return project.events(ev.DebateWeighed)


def asked(project: Project, role: str, step: str) -> int:
    return len(project.briefs(role, step))


# --- mode = "debate" ---


def test_a_debate_approves_a_change_as_one_review(project: Project) -> None:
    project.planned(*AGREED, **debating())
    project.swarm("run", exits=3)
    assert project.state.task("1.1").status is TaskStatus.COMPLETE
    (given,) = project.events(ev.ReviewGiven)
    assert (given.passed, given.review.verdict, given.review.summary) == (True, Verdict.APPROVED, "WEIGHED")
    assert given.review.findings == ()
    for name in ("advocate local/senior", "challenger local/critical", "synthesis local/senior"):
        assert name in given.review.model
    (event,) = weighed(project)
    assert (event.held, event.debate, event.verdict) == (True, ID, Vote.APPROVE)
    assert asked(project, "reviewer", "review") == 0
    kept = json.loads((project.folder.evidence / "1.1/attempt-1/debate.json").read_text())
    assert [len(held["speeches"]) for held in kept["rounds"]] == [2, 2]
    assert project.swarm("verify").exit_code == 0
    assert project.state.usage_by_role["participant"].calls == 4
    assert event.debated == event.tokens > 0
    assert project.state.task("1.1").usage.tokens >= event.debated


def test_debaters_get_what_the_reviewer_gets_and_never_what_the_coder_says(project: Project) -> None:
    project.planned(*AGREED, **debating())
    project.swarm("run", exits=3)
    briefs = project.briefs("participant", "debate", task="1.1", attempt="1")
    assert len(briefs) == 4
    for brief in (*briefs, *project.briefs("architect", "synthesize", task="1.1", attempt="1")):
        for wanted in ("The task", "part 1.1 has a value", "Results of the gates", '+VALUE = "1.1"', "Declared scope"):
            assert wanted in brief
        assert "I-CLAIM-IT-IS-DONE" not in brief
    assert not any("write_file" in each.tools for each in project.requests if each.headers.get("ROLE") == "participant")
    models = {each.headers["PARTICIPANT"]: each.model for each in project.requests if "PARTICIPANT" in each.headers}
    assert models == {"advocate": "senior", "challenger": "critical"}


def test_a_debate_rejects_with_what_its_reasons_cite(project: Project) -> None:
    seats = ("advocate", "challenger")
    again = (synthesis("APPROVE", attempt="2"), *(votes(seat, "APPROVE", attempt="2") for seat in seats))
    project.planned(
        *OPPOSED[:-1],
        synthesis("REJECT", "NO-EXPIRY", "the claim is missing", ("r2-msg-002",)),
        *again,
        code({"src/calc/part_1.1.py": part("better")}, attempt="2"),
        **debating(),
    )
    project.swarm("run", exits=3)
    first, second = project.state.task("1.1").attempts
    assert (first.stage, first.reason) == ("reviewer", "NO-EXPIRY")
    assert [each.message for each in first.feedback] == ["the claim is missing [r2-msg-002 challenger]"]
    assert "the claim is missing [r2-msg-002 challenger]" in project.briefs("coder", "code", attempt="2")[0]
    assert second.debate is not None
    assert second.debate.debate == "task-1.1-attempt-2"
    assert project.state.debates.held == 2


def test_a_split_debate_is_decided_by_the_synthesis_and_its_dissent_is_seen(project: Project) -> None:
    split = (speaks(), votes("advocate", "APPROVE"), votes("challenger", "REJECT", "NO-TYPES"))
    project.planned(*split, synthesis("APPROVE", dissent="no types are named"), **debating())
    project.swarm("run", exits=3)
    (given,) = project.events(ev.ReviewGiven)
    assert given.passed
    assert given.review.dissent == ("no types are named [r1-msg-002 challenger]",)
    shown = plain(project.swarm("show", "1.1").stdout)
    assert "dissent: no types are named [r1-msg-002 challenger]" in shown
    assert "APPROVE by synthesis, 1 for, 1 against" in shown


def test_a_synthesis_cannot_approve_what_every_voice_rejects(project: Project) -> None:
    project.planned(*OPPOSED[:-1], synthesis("APPROVE"), **debating(), loop={"max_rejections": 1})
    project.swarm("run", exits=1)
    assert not project.events(ev.ReviewGiven)
    (first,) = project.state.task("1.1").attempts
    assert first.stage == "breaker: debate"
    assert weighed(project)[0].verdict is None


def test_one_voice_that_fails_is_no_agreement(project: Project) -> None:
    silent = rule("participant", "debate", {"text": "no idea"}, participant="challenger", round="2")
    cites = ("r2-msg-001",)
    project.planned(speaks(), votes("advocate", "APPROVE"), silent, synthesis("APPROVE", cites=cites), **debating())
    told = project.swarm("run", exits=1).stdout
    assert not project.events(ev.ReviewGiven)
    assert not project.events(ev.TaskCompleted)
    (first,) = project.state.task("1.1").attempts  # no further attempt is spent on a model's fault
    assert first.stage == "breaker: debate"
    assert "its side was not heard" in first.reason
    assert "`challenger`" in told
    assert asked(project, "coder", "code") == 1
    assert "nobody judged" in plain(project.swarm("override", "1.1", "--reason", "x", exits=2).stderr)


def test_one_voice_that_fails_takes_no_weight_from_a_rejection(project: Project) -> None:
    silent = rule("participant", "debate", {"text": "no idea"}, participant="advocate", round="2")
    says = (votes("challenger", "REJECT", "no exp claim"), synthesis("REJECT", cites=("r2-msg-002",)))
    project.planned(speaks(), silent, *says, **debating(), loop={"max_rejections": 1})
    project.swarm("run", exits=1)
    assert {each.stage for each in project.state.task("1.1").attempts} == {"reviewer"}


def test_where_all_fail_nothing_passes_and_nothing_is_rejected(project: Project) -> None:
    project.planned(rule("participant", "debate", {"text": "   "}), **debating())
    project.swarm("run", exits=1)
    assert not project.events(ev.ReviewGiven)
    record = project.state.task("1.1")
    assert record.status is TaskStatus.BLOCKED
    assert record.attempts[0].stage == "breaker: debate"
    project.swarm("override", "1.1", "--reason", "I vouch", exits=2)
    project.play(*AGREED, **debating())
    project.swarm("retry", "1.1")
    project.swarm("run", exits=3)
    assert [event.debate for event in weighed(project)] == [ID, "task-1.1-attempt-2"]


def test_a_killed_debate_goes_on_after_its_last_whole_round(project: Project) -> None:
    hangs = rule("participant", "debate", {"fault": {"kind": "hang"}}, participant="challenger", round="2")
    project.planned(speaks(), votes("advocate", "APPROVE"), hangs, synthesis("APPROVE"), **debating())
    process = project.start("run")
    until(lambda: len(project.briefs("participant", "debate", round="2")) == 2)
    assert (project.folder.debates / ID / "round-1.json").exists()
    process.kill()
    process.wait()
    project.play(*AGREED, **debating())
    project.swarm("run", exits=3)
    rounds = [each.headers["ROUND"] for each in project.requests if each.headers.get("STEP") == "debate"]
    assert rounds.count("1") == 2  # each voice once, though the killed attempt itself is over
    (event,) = weighed(project)
    assert (event.debate, event.attempt, event.verdict) == (ID, 2, Vote.APPROVE)
    assert DebateFiles(project.folder).ids() == (ID,)
    assert project.swarm("verify").exit_code == 0


def test_a_debate_that_ran_into_a_budget_goes_on_in_the_same_attempt(project: Project) -> None:
    project.planned(*AGREED, **debating(), council={"total_tokens": 500})
    told = project.swarm("run", exits=4)
    assert "total_tokens" in told.stderr
    before = asked(project, "participant", "debate")
    assert before == 2
    project.play(*AGREED, **debating())
    project.swarm("run", exits=3)
    assert asked(project, "participant", "debate") == 4
    assert [event.attempt for event in weighed(project)] == [1]


def test_another_change_under_the_same_name_gets_a_debate_of_its_own(project: Project) -> None:
    """The second goal has a task 1.1 again; what was said of the first one counts for nothing."""
    project.planned(*AGREED, **debating())
    project.swarm("run", exits=3)
    project.swarm("approve")
    project.play(*AGREED, code({"src/calc/part_1.1.py": part("another")}), **debating())
    project.swarm("plan", "More parts", exits=3)
    project.swarm("approve")
    project.swarm("run", exits=3)
    assert [event.debate for event in weighed(project)] == [ID, "goal-2-task-1.1-attempt-1"]
    assert asked(project, "participant", "debate") == 8


def test_the_user_may_overrule_a_debate(project: Project) -> None:
    project.planned(*OPPOSED, **debating(), loop={"max_rejections": 1})
    project.swarm("run", exits=1)
    held = project.state.debates.held
    project.swarm("override", "1.1", "--reason", "I know better")
    project.swarm("run", exits=3)
    last = project.state.task("1.1").attempts[-1]
    assert last.kind is ev.AttemptKind.OVERRIDE
    assert project.state.task("1.1").status is TaskStatus.COMPLETE
    assert project.state.debates.held == held


def test_twin_models_are_refused_before_any_work(project: Project) -> None:
    project.play(review={"mode": "debate"})
    told = project.swarm("plan", GOAL, exits=2).stderr
    assert "`challenger`" in told
    assert "local/senior" in told
    assert not project.requests
    assert not project.events(ev.GoalSet)


def test_a_challenger_of_an_unknown_provider_is_refused_before_any_work(project: Project) -> None:
    project.play(review={"mode": "debate", "challenger": "nowhere/x"})
    assert "nowhere" in project.swarm("plan", GOAL, exits=2).stderr
    assert not project.requests


# --- mode = "auto" ---


def test_auto_asks_one_cheap_look_and_holds_no_debate_where_nothing_speaks_for_it(project: Project) -> None:
    project.planned(looks("APPROVE"), **debating("auto"))
    project.swarm("run", exits=3)
    (event,) = weighed(project)
    assert (event.held, event.triggers, event.saved, event.first) == (False, (), 0, Verdict.APPROVED)
    assert event.look is not None
    assert event.model == "local/critical"
    (request,) = [each for each in project.requests if each.headers.get("STEP") == "first_look"]
    assert request.tools == ()
    assert (request.headers["PARTICIPANT"], request.headers["TASK"]) == ("first-look", "1.1")
    assert project.state.debates.contested == 0


def test_auto_holds_a_debate_where_reviewer_and_first_look_disagree(project: Project) -> None:
    project.planned(*AGREED, looks("REJECT"), **debating("auto"))
    project.swarm("run", exits=3)
    (event,) = weighed(project)
    assert (event.held, event.triggers) == (True, ("reviewer and first look disagree",))
    assert event.tokens > event.debated > 0
    (given,) = project.events(ev.ReviewGiven)
    assert given.review.summary == "WEIGHED"


def test_a_debate_may_reject_what_the_reviewer_approved(project: Project) -> None:
    project.planned(*OPPOSED, looks("REJECT"), **debating("auto"), loop={"max_rejections": 1})
    project.swarm("run", exits=1)
    assert weighed(project)[0].first is Verdict.APPROVED
    assert project.events(ev.ReviewGiven)[0].review.verdict is Verdict.REJECTED


@pytest.mark.parametrize(
    ("files", "trigger"),
    [
        ({"src/calc/login.py": LOGIN}, "the change is security-sensitive"),
        ({"src/calc/part_1.1.py": part("1.1") + "".join(f'V{n} = "{n}"\n' for n in range(420))}, "the change is LARGE"),
    ],
)
def test_auto_takes_a_sure_first_look_for_a_debate(project: Project, files: dict[str, str], trigger: str) -> None:
    project.planned(code(files), looks("APPROVE"), **debating("auto"))
    project.swarm("run", exits=3)
    (event,) = weighed(project)
    assert not event.held
    assert event.triggers[0].startswith(trigger)
    assert event.saved > 0
    assert f"0 of 1 contested review, about {event.saved:,} tokens saved" in plain(project.swarm("status").stdout)
    assert project.json("status")["debates"]["skipped"] == 1
    assert f"about {event.saved:,} tokens saved" in plain(project.swarm("show", "1.1").stdout)
    assert "not debated: the first look agrees" in plain(project.swarm("history").stdout)


@pytest.mark.parametrize(
    ("look", "why"),
    [
        (looks("APPROVE", 0.5), "the first look is not sure"),
        (looks("ABSTAIN"), "it abstains"),
        (looks("", text="APPROVE, I would say"), "the first look gave no verdict"),
    ],
)
def test_auto_debates_a_sensitive_change_where_the_first_look_is_not_sure(
    project: Project, look: Rule, why: str
) -> None:
    project.planned(code({"src/calc/login.py": LOGIN}), *AGREED, look, **debating("auto"))
    project.swarm("run", exits=3)
    (event,) = weighed(project)
    assert event.held
    assert why in event.why
    assert asked(project, "participant", "first_look") == 1
    assert len([each for each in project.requests if each.headers.get("STEP") == "first_look"]) == 1


def test_a_first_look_that_cannot_be_had_stops_nothing(project: Project) -> None:
    broken = rule("participant", "first_look", {"fault": {"kind": "500"}})
    project.planned(broken, **debating("auto"), providers__local={"max_retries": 0})
    project.swarm("run", exits=3)
    (event,) = weighed(project)
    assert (event.held, event.look) == (False, None)


def test_auto_debates_an_attempt_after_a_reviewers_rejection(project: Project) -> None:
    project.planned(
        review("REJECTED", "not yet", attempt="1"),
        rule("participant", "first_look", {"text": ballot("REJECT")}, attempt="1"),
        rule("participant", "first_look", {"text": ballot("APPROVE", confidence=0.3)}, attempt="2"),
        *AGREED,
        code({"src/calc/part_1.1.py": part("better")}, attempt="2"),
        **debating("auto"),
    )
    project.swarm("run", exits=3)
    first, second = weighed(project)
    assert (first.held, first.triggers) == (False, ())
    assert (second.held, second.triggers) == (True, ("the reviewer rejected an earlier attempt",))
    assert "1 of 1 contested review" in plain(project.swarm("status").stdout)


def worth(decision: str = "defer") -> DebateWorth:
    return DebateWorth.model_validate(
        {
            "decision": decision,
            "lift": 2.5,
            "interval": (-3.0, 8.0),
            "items": 80,
            "models": ("local/senior", "local/critical"),
            "fixtures": "ab" * 32,
            "date": "2026-11-21T12:00:00+00:00",
        }
    )


def test_a_measurement_against_debates_is_obeyed_and_said_once(project: Project) -> None:
    rules = [plan("1.1", "1.2"), code({"src/calc/login.py": LOGIN}, task="1.1")]
    project.planned(*rules, **debating("auto"))
    debate_worth.keep(project.folder, worth())
    project.swarm("run", exits=3)
    assert asked(project, "participant", "first_look") == asked(project, "participant", "debate") == 0
    (event,) = weighed(project)
    assert (event.deferred, event.held) == (True, False)
    assert "+2.5 points (-3.0 to +8.0)" in plain(project.swarm("history").stdout)
    assert "debates are deferred" in plain(project.swarm("status").stdout)
    assert len(project.events(ev.ReviewGiven)) == 2


def test_a_measurement_for_debates_changes_nothing(project: Project) -> None:
    project.planned(*AGREED, looks("REJECT"), **debating("auto"))
    debate_worth.keep(project.folder, worth("use"))
    project.swarm("run", exits=3)
    assert weighed(project)[0].held


def test_who_asks_for_debates_gets_them_whatever_was_measured(project: Project) -> None:
    project.planned(*AGREED, **debating())
    debate_worth.keep(project.folder, worth())
    project.swarm("run", exits=3)
    assert weighed(project)[0].held


def test_a_damaged_measurement_is_told_before_any_work(project: Project) -> None:
    project.planned(**debating("auto"))
    project.folder.debate_worth.write_text('{"decision": "perhaps"}')
    told = project.swarm("run", exits=2).stderr
    assert ".swarm/debate-worth.json" in told
    assert "`decision`" in told
    assert not project.events(ev.RunStarted)[1:]
    project.play()  # who holds no debates is not told
    project.swarm("run", exits=3)


def test_auto_with_one_model_is_single_with_a_notice(project: Project) -> None:
    project.play(review={"mode": "auto"})
    told = project.swarm("plan", GOAL, exits=3).stderr
    assert "holds no debates" in told
    project.swarm("approve")
    project.swarm("run", exits=3)
    assert not weighed(project)
    assert asked(project, "participant", "first_look") == 0


def test_single_is_the_default_and_asks_nobody_else(project: Project) -> None:
    project.planned(**TWO)
    project.swarm("run", exits=3)
    assert not weighed(project)
    assert project.json("status")["debates"] is None
    assert {each.headers.get("ROLE") for each in project.requests}.isdisjoint({"participant"})


# --- plans ---


def test_a_plan_is_criticised_by_a_debate(project: Project) -> None:
    project.play(*OPPOSED, **TWO, review={"mode": "single", "plan_mode": "debate"}, loop={"critic_rounds": 1})
    told = project.swarm("plan", GOAL, exits=3).stdout
    assert "as was said [r2-msg-001 advocate, r2-msg-002 challenger]" in plain(told)
    (event,) = weighed(project)
    assert (event.task, event.debate, event.held) == ("", "plan-round-1", True)
    (reviewed,) = project.events(ev.PlanReviewed)
    assert reviewed.review.verdict is Verdict.REJECTED
    assert asked(project, "critic", "review_plan") == 0
    (brief, *_) = project.briefs("participant", "debate")
    assert GOAL in brief
    assert "part 1.1 has a value" in brief
    assert "plan: debate plan-round-1" in plain(project.swarm("history").stdout)


def test_an_unset_plan_mode_is_that_of_reviews(project: Project) -> None:
    project.play(*AGREED, **TWO, review={"mode": "debate"})
    project.swarm("plan", GOAL, exits=3)
    assert weighed(project)[0].held
    assert project.state.planning is Planning.REVIEWED


def test_a_second_round_of_a_plan_is_contested(project: Project) -> None:
    unsure = rule("participant", "first_look", {"text": ballot("REJECT", confidence=0.9)})
    project.play(critic("REJECTED", "TOO-VAGUE", "name the unit"), unsure, **TWO, review={"plan_mode": "auto"})
    project.swarm("plan", GOAL, exits=3)
    first, second = weighed(project)
    assert (first.triggers, first.held) == ((), False)
    assert (second.triggers, second.held) == (("the critic objected in an earlier round",), False)
    assert second.saved > 0


def test_critic_and_first_look_disagree_about_a_plan(project: Project) -> None:
    project.play(*AGREED, looks("REJECT"), **TWO, review={"plan_mode": "auto"})
    project.swarm("plan", GOAL, exits=3)
    (event,) = weighed(project)
    assert (event.held, event.triggers) == (True, ("critic and first look disagree",))


def test_a_debate_of_a_plan_that_decides_nothing_counts_as_an_objection(project: Project) -> None:
    broken = rule("participant", "debate", {"text": "   "})
    project.play(broken, **TWO, review={"plan_mode": "debate"}, loop={"critic_rounds": 1})
    assert "The debate decided nothing" in project.swarm("plan", GOAL, exits=3).stdout
    assert project.state.planning is Planning.REVIEWED


def test_a_large_plan_is_contested(project: Project) -> None:
    many = plan(*(task(f"1.{number}") for number in range(1, 21)))
    project.play(many, looks("APPROVE"), **TWO, review={"plan_mode": "auto"})
    project.swarm("plan", GOAL, exits=3)
    assert weighed(project)[0].triggers == ("the plan is LARGE: 20 tasks",)


def test_a_change_beyond_a_window_is_cut_and_no_dead_end(project: Project) -> None:
    """The change is cut to the smallest window; each voice is told, and reads the files itself."""
    huge = part("1.1") + "".join(f'V{number} = "{"x" * 60}"\n' for number in range(900))
    small = {"model": "local/critical", "context_tokens": 12_000}
    project.planned(code({"src/calc/part_1.1.py": huge}), *AGREED, **{**debating(), "roles__participant": small})
    project.swarm("run", exits=3)
    assert "characters left out" in project.briefs("participant", "debate")[0]
