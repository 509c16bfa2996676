"""Reviews and plans by debate, over the whole loop: what is debated, what that means, and what comes of failures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.project import GOAL, Project, Rule, call, code, critic, part, plain, plan, review, rule, task, until, verdict

from swarmgate.council.debate.model import Compared, Debate, Outcome, Spoke
from swarmgate.council.debate.rules import RULES
from swarmgate.council.debate.state import DebateState
from swarmgate.council.records.lifecycle import Completed
from swarmgate.council.records.record import Record
from swarmgate.council.records.store import Records
from swarmgate.council.shared import Shared
from swarmgate.domain.base import Frozen
from swarmgate.domain.events import event as ev
from swarmgate.domain.review.evidence import Verdict
from swarmgate.domain.review.votes import Ballot, Vote
from swarmgate.domain.state.state import Planning, TaskStatus
from swarmgate.domain.task.debate_rules import DebateWorth
from swarmgate.engine import Swarm
from swarmgate.journal.chain import GENESIS, encode
from swarmgate.ledger.councils import debate_worth
from swarmgate.ledger.councils.sessions import Session

pytestmark = pytest.mark.suite("unittest")

TWO: dict[str, dict[str, Any]] = {
    "roles__critic": {"model": "local/critical"},
    "prices__critical": {"input": 1, "output": 2},
}
ID = "task-1.1-attempt-1"
LITTLE = 2_500
"""Tokens that last for the first round of a debate, and for no more."""
LOGIN = '"""Who is there."""\n\n\ndef login(name: str) -> str:\n    """Say who."""\n    return name.strip()\n'


class Exchange(Frozen):
    """A call as sessions keep it."""

    purpose: dict[str, str]
    reply: dict[str, Any]


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


@pytest.mark.slow
@pytest.mark.parametrize(("word", "held"), [("APPROVED", 1), ("REJECTED", 0)])
def test_a_change_that_no_window_at_the_table_holds_is_read_by_the_reviewer_first(
    project: Project, word: str, held: int
) -> None:
    long = part("1.1") + "".join(f"\nvalue_{n} = {n}\n" for n in range(9000))
    reads = [[call("read_change", path="src/calc/part_1.1.py", part=n)] for n in range(1, 10)]
    settings = debating()
    settings["roles__reviewer"] = {
        **settings.get("roles__reviewer", {"model": "local/senior"}),
        "context_tokens": 40_000,
    }
    project.planned(
        *AGREED,
        code({"src/calc/part_1.1.py": long}),
        rule("reviewer", "review", *reads, [verdict(word, "as it was read")]),
        loop={"max_rejections": 1},
        **settings,
    )
    project.swarm("run", exits=3 if held else 1)
    assert sum(event.held for event in weighed(project)) == held
    assert asked(project, "reviewer", "review") >= 1


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_synthesis_cannot_approve_what_every_voice_rejects(project: Project) -> None:
    project.planned(*OPPOSED[:-1], synthesis("APPROVE"), **debating(), loop={"max_rejections": 1})
    project.swarm("run", exits=1)
    assert not project.events(ev.ReviewGiven)
    (first,) = project.state.task("1.1").attempts
    assert first.stage == "breaker: debate"
    assert weighed(project)[0].verdict is None


@pytest.mark.slow
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


@pytest.mark.slow
def test_one_voice_that_fails_takes_no_weight_from_a_rejection(project: Project) -> None:
    silent = rule("participant", "debate", {"text": "no idea"}, participant="advocate", round="2")
    says = (votes("challenger", "REJECT", "no exp claim"), synthesis("REJECT", cites=("r2-msg-002",)))
    project.planned(speaks(), silent, *says, **debating(), loop={"max_rejections": 1})
    project.swarm("run", exits=1)
    assert {each.stage for each in project.state.task("1.1").attempts} == {"reviewer"}


@pytest.mark.slow
def test_where_all_fail_nothing_passes_and_nothing_is_rejected(project: Project) -> None:
    project.planned(speaks(), rule("participant", "debate", {"text": "no idea"}, round="2"), **debating())
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


@pytest.mark.slow
def test_a_killed_debate_goes_on_after_its_last_whole_round(project: Project) -> None:
    hangs = rule("participant", "debate", {"fault": {"kind": "hang"}}, participant="challenger", round="2")
    project.planned(speaks(), votes("advocate", "APPROVE"), hangs, synthesis("APPROVE"), **debating())
    process = project.start("run")
    until(lambda: len(project.briefs("participant", "debate", round="2")) == 2)
    assert len(on_record(project).standing.own.rounds) == 1
    process.kill()
    process.wait()
    project.play(*AGREED, **debating())
    project.swarm("run", exits=3)
    rounds = [each.headers["ROUND"] for each in project.requests if each.headers.get("STEP") == "debate"]
    assert rounds.count("1") == 2  # each voice once
    (event,) = weighed(project)
    assert (event.debate, event.attempt, event.verdict) == (ID, 1, Vote.APPROVE)
    assert records(project).ids() == (ID,)
    assert project.swarm("verify").exit_code == 0


@pytest.mark.slow
def test_a_debate_that_ran_into_a_budget_goes_on_in_the_same_attempt(project: Project) -> None:
    project.planned(*AGREED, **debating(), council={"total_tokens": LITTLE})
    told = project.swarm("run", exits=4)
    assert "total_tokens" in told.stderr
    before = asked(project, "participant", "debate")
    assert before == 2
    project.play(*AGREED, **debating())
    project.swarm("run", exits=3)
    assert asked(project, "participant", "debate") == 4
    assert [event.attempt for event in weighed(project)] == [1]


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_auto_asks_one_cheap_look_and_holds_no_debate_where_nothing_speaks_for_it(project: Project) -> None:
    project.planned(looks("APPROVE"), **debating("auto"))
    project.swarm("run", exits=3)
    (event,) = weighed(project)
    assert (event.held, event.triggers, event.saved, event.first) == (False, (), 0, Verdict.APPROVED)
    assert event.look is not None
    assert event.model == "local/critical"
    (request,) = [each for each in project.requests if each.headers.get("STEP") == "first_look"]
    assert request.tools == ("submit_answer",)
    assert (request.headers["PARTICIPANT"], request.headers["TASK"]) == ("first-look", "1.1")
    assert project.state.debates.contested == 0


@pytest.mark.slow
def test_auto_holds_a_debate_where_reviewer_and_first_look_disagree(project: Project) -> None:
    project.planned(*AGREED, looks("REJECT"), **debating("auto"))
    project.swarm("run", exits=3)
    (event,) = weighed(project)
    assert (event.held, event.triggers) == (True, ("reviewer and first look disagree",))
    assert event.tokens > event.debated > 0
    (given,) = project.events(ev.ReviewGiven)
    assert given.review.summary == "WEIGHED"


@pytest.mark.slow
def test_a_debate_may_reject_what_the_reviewer_approved(project: Project) -> None:
    project.planned(*OPPOSED, looks("REJECT"), **debating("auto"), loop={"max_rejections": 1})
    project.swarm("run", exits=1)
    assert weighed(project)[0].first is Verdict.APPROVED
    assert project.events(ev.ReviewGiven)[0].review.verdict is Verdict.REJECTED


@pytest.mark.slow
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
    assert f"0 of 1 review weighed, about {event.saved:,} tokens saved" in plain(project.swarm("status").stdout)
    assert project.json("status")["debates"]["skipped"] == 1
    assert f"about {event.saved:,} tokens saved" in plain(project.swarm("show", "1.1").stdout)
    assert "not debated: the first look agrees" in plain(project.swarm("history").stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("look", "why"),
    [
        (looks("APPROVE", 0.5), "the first look is not sure"),
        (looks("ABSTAIN"), "the first look abstains"),
        (looks("", text="APPROVE, I would say"), "the first look failed: There is no FINAL_VERDICT"),
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


@pytest.mark.slow
def test_a_first_look_that_cannot_be_had_stops_nothing(project: Project) -> None:
    broken = rule("participant", "first_look", {"fault": {"kind": "500"}})
    project.planned(broken, **debating("auto"), providers__local={"max_retries": 0})
    project.swarm("run", exits=3)
    (event,) = weighed(project)
    assert (event.held, event.look) == (False, None)


@pytest.mark.slow
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
    assert "1 of 1 review weighed" in plain(project.swarm("status").stdout)


def worth(decision: str = "defer") -> DebateWorth:
    return DebateWorth.model_validate(
        {
            "decision": decision,
            "lift": 2.5 if decision == "defer" else 12.5,
            "interval": (-3.0, 18.0),
            "items": 80,
            "models": ("local/senior", "local/critical"),
            "fixtures": "ab" * 32,
            "date": "2026-11-21T12:00:00+00:00",
        }
    )


@pytest.mark.slow
def test_a_measurement_against_debates_is_obeyed_and_said_once(project: Project) -> None:
    rules = [plan("1.1", "1.2"), code({"src/calc/login.py": LOGIN}, task="1.1")]
    project.planned(*rules, **debating("auto"))
    debate_worth.keep(project.folder, worth())
    project.swarm("run", exits=3)
    assert asked(project, "participant", "first_look") == asked(project, "participant", "debate") == 0
    (event,) = weighed(project)
    assert (event.deferred, event.held) == (True, False)
    assert "+2.5 points (-3.0 to +18.0)" in plain(project.swarm("history").stdout)
    assert "debates are deferred" in plain(project.swarm("status").stdout)
    assert len(project.events(ev.ReviewGiven)) == 2


@pytest.mark.slow
def test_a_measurement_for_debates_changes_nothing(project: Project) -> None:
    project.planned(*AGREED, looks("REJECT"), **debating("auto"))
    debate_worth.keep(project.folder, worth("use"))
    project.swarm("run", exits=3)
    assert weighed(project)[0].held


@pytest.mark.slow
def test_who_asks_for_debates_gets_them_whatever_was_measured(project: Project) -> None:
    project.planned(*AGREED, **debating())
    debate_worth.keep(project.folder, worth())
    project.swarm("run", exits=3)
    assert weighed(project)[0].held


@pytest.mark.slow
def test_a_damaged_measurement_is_told_before_any_work(project: Project) -> None:
    project.planned(**debating("auto"))
    project.folder.debate_worth.write_text('{"decision": "perhaps"}')
    told = project.swarm("run", exits=2).stderr
    assert ".swarm/debate-worth.json" in told
    assert "`decision`" in told
    assert not project.events(ev.RunStarted)[1:]
    project.play()  # who holds no debates is not told
    project.swarm("run", exits=3)


@pytest.mark.slow
def test_auto_with_one_model_is_single_with_a_notice(project: Project) -> None:
    project.play(review={"mode": "auto"})
    told = project.swarm("plan", GOAL, exits=3).stderr
    assert "holds no debates" in told
    project.swarm("approve")
    project.swarm("run", exits=3)
    assert not weighed(project)
    assert asked(project, "participant", "first_look") == 0


@pytest.mark.slow
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
    broken = rule("participant", "debate", {"text": "no idea"}, round="2")
    project.play(speaks(), broken, **TWO, review={"plan_mode": "debate"}, loop={"critic_rounds": 1})
    assert "The debate decided nothing" in project.swarm("plan", GOAL, exits=3).stdout
    assert project.state.planning is Planning.REVIEWED


def test_a_large_plan_is_contested(project: Project) -> None:
    many = plan(*(task(f"1.{number}") for number in range(1, 21)))
    project.play(many, looks("APPROVE"), **TWO, review={"plan_mode": "auto"})
    project.swarm("plan", GOAL, exits=3)
    assert weighed(project)[0].triggers == ("the plan is LARGE: 20 tasks",)


@pytest.mark.slow
def test_a_change_beyond_a_window_is_cut_and_no_dead_end(project: Project) -> None:
    """The change is cut to the smallest window; each voice is told, and reads the files itself."""
    huge = part("1.1") + "".join(f'V{number} = "{"x" * 60}"\n' for number in range(900))
    small = {"model": "local/critical", "context_tokens": 12_000}
    project.planned(code({"src/calc/part_1.1.py": huge}), *AGREED, **{**debating(), "roles__participant": small})
    project.swarm("run", exits=3)
    assert "characters left out" in project.briefs("participant", "debate")[0]


# --- what was changed by hand between two runs ---


def records(project: Project) -> Records:
    return Shared(Swarm(project.root).project).records


def on_record(project: Project) -> Record[Debate, DebateState, Outcome]:
    return records(project).open(RULES, ID)


def paused(project: Project) -> Path:
    """A debate whose first round is on record, paused by its budget; gives its journal."""
    project.planned(*AGREED, **debating(), council={"total_tokens": LITTLE})
    project.swarm("run", exits=4)
    assert len(on_record(project).standing.own.rounds) == 1
    return project.folder.discussions / ID / "journal.jsonl"


def rewritten(project: Project, path: Path, change: Callable[[Spoke], Spoke]) -> None:
    """Changes what was said, and makes every line fit the one before it."""
    lines, head = [], GENESIS
    for entry in on_record(project).entries():
        event = change(entry.event) if isinstance(entry.event, Spoke) else entry.event
        line, head = encode(entry.model_copy(update={"event": event}), head)
        lines.append(line)
    path.write_bytes(b"".join(lines))


def said(event: Spoke, **changes: Any) -> Spoke:
    return event.model_copy(update={"speech": event.speech.model_copy(update=changes)})


def goes_on(project: Project) -> str:
    """The next run, in which both voices reject once; what it told."""
    seats = ("advocate", "challenger")
    again = (*(votes(seat, "APPROVE", attempt="2") for seat in seats), synthesis("APPROVE", attempt="2"))
    project.play(*OPPOSED, *again, code({"src/calc/part_1.1.py": part("better")}, attempt="2"), **debating())
    return plain(project.swarm("run", exits=3).stderr)


def assert_held_anew(project: Project) -> None:
    first = weighed(project)[0]
    assert (first.debate, first.verdict) == (f"{ID}-2", Vote.REJECT)
    assert project.state.task("1.1").attempts[0].stage == "reviewer"


@pytest.mark.slow
def test_an_outcome_that_nobody_voted_for_counts_for_nothing(project: Project) -> None:
    paused(project)
    on_record(project).append([Completed()])
    assert "not what the ledger has on record" in goes_on(project)
    assert_held_anew(project)


@pytest.mark.slow
def test_a_line_that_was_changed_counts_for_nothing(project: Project) -> None:
    path = paused(project)
    changed = path.read_text().replace('"ballot":null', '"ballot":{"vote":"APPROVE","confidence":1.0}')
    assert changed != path.read_text()
    path.write_text(changed)
    assert f"{ID}/journal.jsonl line 3" in goes_on(project)
    assert_held_anew(project)
    assert "journal.jsonl" in project.swarm("verify", exits=1).stdout


@pytest.mark.slow
def test_a_seat_that_nobody_has_ends_in_no_traceback(project: Project) -> None:
    rewritten(project, paused(project), lambda event: said(event, seat="ghost"))
    told = goes_on(project)
    assert "journal.jsonl line 3 records what the rules forbid" in told
    assert "ghost spoke in round 1" in told
    assert_held_anew(project)


@pytest.mark.slow
def test_lines_that_fit_each_other_and_not_the_ledger_count_for_nothing(project: Project) -> None:
    """Whoever edits a message can make the next hashes fit, and add the vote: the ledger has another hash."""
    rewritten(project, paused(project), lambda event: said(event, text="I concede everything."))
    assert on_record(project).standing.own.rounds[0].speeches[0].text == "I concede everything."
    assert "not what the ledger has on record" in goes_on(project)
    assert_held_anew(project)


@pytest.mark.slow
def test_a_whole_round_that_was_added_counts_for_nothing(project: Project) -> None:
    paused(project)
    record = on_record(project)
    ballot_ = Ballot(vote=Vote.APPROVE, confidence=1.0)
    for speech in record.standing.own.rounds[0].speeches:
        changes = {"id": speech.id.replace("r1", "r2"), "round": 2, "ballot": ballot_, "claims": ()}
        record.append([Spoke(speech=speech.model_copy(update=changes))])
    record.append([Compared(round=2)])
    goes_on(project)
    assert_held_anew(project)


# --- outages ---


@pytest.mark.slow
def test_an_outage_pauses_the_run_and_the_debate_goes_on(project: Project) -> None:
    down = rule("participant", "debate", {"fault": {"kind": "500"}}, round="2")
    project.planned(speaks(), down, **debating(), providers__local={"max_retries": 0})
    assert "swarm run" in project.swarm("run", exits=5).stderr
    assert project.state.task("1.1").running is not None
    assert not weighed(project)
    before = asked(project, "participant", "debate")
    project.play(*AGREED, **debating())
    project.swarm("run", exits=3)
    assert asked(project, "participant", "debate") == before + 2  # the first round stands
    assert [(event.debate, event.attempt, event.verdict) for event in weighed(project)] == [(ID, 1, Vote.APPROVE)]
    assert project.swarm("verify").exit_code == 0


@pytest.mark.slow
def test_an_outage_of_the_parent_pauses_the_run_too(project: Project) -> None:
    down = rule("architect", "synthesize", {"fault": {"kind": "500"}})
    project.planned(*AGREED[:-1], down, **debating(), providers__local={"max_retries": 0})
    project.swarm("run", exits=5)
    before = asked(project, "participant", "debate")
    project.play(*AGREED, **debating())
    project.swarm("run", exits=3)
    assert asked(project, "participant", "debate") == before
    assert [event.debate for event in weighed(project)] == [ID]


# --- what is told of the first look ---


@pytest.mark.slow
def test_a_first_look_is_announced_and_told(project: Project) -> None:
    project.planned(looks("APPROVE"), **debating("auto"))
    told = plain(project.swarm("run", exits=3).stderr)
    assert "a first look by local/critical" in told
    line = "not debated: nothing speaks for a debate; the first look: APPROVE (90% sure)"
    assert f"task 1.1: {line}" in told
    assert f"task 1.1: {line}" in plain(project.swarm("history").stdout)
    assert f"debate: {line}" in plain(project.swarm("show", "1.1").stdout)


@pytest.mark.slow
def test_a_first_look_that_failed_is_told(project: Project) -> None:
    broken = rule("participant", "first_look", {"fault": {"kind": "500"}})
    project.planned(broken, **debating("auto"), providers__local={"max_retries": 0})
    told = plain(project.swarm("run", exits=3).stderr)
    (event,) = weighed(project)
    assert event.look_failed
    for said in (event.why, told, plain(project.swarm("history").stdout), plain(project.swarm("show", "1.1").stdout)):
        assert "the first look failed: local/critical" in said


@pytest.mark.slow
def test_a_debate_is_shown_without_a_doubled_word(project: Project) -> None:
    project.planned(*AGREED, **debating())
    project.swarm("run", exits=3)
    shown = plain(project.swarm("show", "1.1").stdout)
    assert f"debate: {ID} (" in shown
    assert f"task 1.1: debate {ID} (" in plain(project.swarm("history").stdout)


def test_status_names_the_models_that_debate(project: Project) -> None:
    project.planned(*AGREED, **debating())
    models = project.json("status")["models"]
    assert (models["advocate"]["model"], models["challenger"]["model"]) == ("local/senior", "local/critical")
    project.play(review={"mode": "single"})
    assert "advocate" not in project.json("status")["models"]


@pytest.mark.slow
def test_a_measurement_with_other_models_counts_and_says_so(project: Project) -> None:
    project.planned(**debating("auto"))
    debate_worth.keep(project.folder, worth().model_copy(update={"models": ("other/one", "local/senior")}))
    project.swarm("run", exits=3)
    (event,) = weighed(project)
    assert event.deferred
    assert "measured with other/one, local/senior, and not with local/critical" in event.why


@pytest.mark.slow
def test_a_budget_below_the_first_prompts_is_refused_before_anybody_is_asked(project: Project) -> None:
    project.planned(*AGREED, **debating(), council={"total_tokens": 100})
    told = project.swarm("run", exits=4).stderr
    assert "too small" in told
    assert "total_tokens" in told
    assert not asked(project, "participant", "debate")


@pytest.mark.slow
def test_what_a_council_uses_meanwhile_counts_for_a_run(project: Project) -> None:
    project.planned(budget={"tokens": 50_000})
    session = Session(project.folder, "debate-elsewhere")
    with session.held():
        usage = {"calls": 1, "prompt_tokens": 60_000}
        session.record(Exchange.model_validate({"purpose": {}, "reply": {"usage": usage}}))
        assert "the budget is used up" in project.swarm("run", exits=4).stderr


@pytest.mark.slow
def test_doctor_looks_at_those_who_debate(project: Project) -> None:
    project.play(**debating())
    (check,) = [each for each in project.json("doctor")["checks"] if each["name"] == "debaters"]
    assert check["looked_at"] == "advocate local/senior, challenger local/critical"
    project.play(review={"mode": "debate"})
    told = project.swarm("doctor", exits=6).stdout
    assert "FAIL  debaters" in told
