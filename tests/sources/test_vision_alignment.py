"""ADR-011's Vision Alignment Meeting: who stands for different things argues about a proposal or a plan, then votes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.project import GOAL, Project, Rule, call, plain, plan, rule
from typer.testing import CliRunner

from swarmgate.cli.app import app
from swarmgate.council.requests.casts import cast
from swarmgate.domain.events import event as ev
from swarmgate.domain.review.votes import Vote
from swarmgate.domain.state.state import Planning
from swarmgate.errors import CouncilRefused

pytestmark = pytest.mark.suite("unittest")

ROOT = Path(__file__).parents[2]
FOUR = ("product-manager", "user-advocate", "engineer", "combatant")
PLAN = "plan-round-1"


def votes(seat: str, word: str, reason: str = "it is so", **match: str) -> Rule:
    ballot = {"verdict": word, "confidence": 0.9, "reasons": [{"text": reason, "cites": []}]}
    text = f"I have thought.\nFINAL_VERDICT:\n{json.dumps(ballot)}"
    return rule("participant", "debate", {"text": text}, **{"participant": seat, "round": "2", **match})


def speaks(**match: str) -> Rule:
    return rule("participant", "debate", {"text": "{{participant}} looked at it."}, **match)


def weighs(word: str, reason: str = "as the meeting says", **match: str) -> Rule:
    given = {
        "verdict": word,
        "summary": "WEIGHED",
        "reasons": [{"text": reason, "cites": ["r2-msg-004"]}],
        "dissent": [],
    }
    return rule("architect", "synthesize", {"text": json.dumps(given)}, **match)


def meeting(word: str, reason: str = "it is so") -> list[Rule]:
    """All four vote the same."""
    return [speaks(), *(votes(seat, word, reason) for seat in FOUR), weighs(word, reason)]


def told(project: Project, seat: str, number: str = "1") -> tuple[str, str]:
    """The system message and the brief of a seat in a round."""
    request = next(
        each
        for each in project.requests
        if (each.headers.get("PARTICIPANT"), each.headers.get("ROUND")) == (seat, number)
    )
    return request.messages[0]["content"], request.messages[1]["content"]


# --- the plan ---


@pytest.mark.parametrize("names", [FOUR, ("Product Manager", "user_advocate", "Engineer", "COMBATANT")])
def test_the_cast_debates_the_plan_and_its_verdict_counts(project: Project, names: tuple[str, ...]) -> None:
    project.play(*meeting("APPROVE"), review={"plan_seats": list(names)})
    project.folder.context.write_text("## SME Guidance Cache\n\n### parts\n- Parts are numbered from 1.\n")
    project.swarm("plan", GOAL, exits=3)
    (weighed,) = project.events(ev.DebateWeighed)
    assert (weighed.held, weighed.debate, weighed.verdict, weighed.mode) == (True, PLAN, Vote.APPROVE, "debate")
    assert weighed.tally is not None
    assert weighed.tally.approve == len(FOUR)
    assert project.briefs("critic", "review_plan") == []
    for seat in FOUR:
        persona = cast("vision-alignment").persona(seat)
        assert persona is not None
        system, brief = told(project, seat)
        assert persona.system in system
        assert persona.brief.splitlines()[0] in brief
        assert "part 1.1 has a value" in brief
        assert "Parts are numbered from 1." in brief
        assert "Debate transcript so far" in told(project, seat, "2")[1]
    assert [reviewed.review.approved for reviewed in project.events(ev.PlanReviewed)] == [True]
    assert f"debate {PLAN}: APPROVED - WEIGHED" in project.folder.context.read_text()
    shown = project.swarm("debate", "show", PLAN).stdout
    assert "Vision Alignment Meeting" in shown
    assert all(seat in shown for seat in FOUR)


@pytest.mark.slow
def test_a_plan_that_the_meeting_rejects_is_revised_with_its_findings(project: Project) -> None:
    rules = [
        *meeting("APPROVE"),
        *(votes(seat, "REJECT", "nobody asked for part 1.1", contains="Round 1 of its review") for seat in FOUR),
        weighs("REJECT", "nobody asked for part 1.1", contains="Round 1 of its review"),
        plan("1.1", "1.2", step="revise"),
    ]
    project.play(*rules, review={"plan_seats": list(FOUR)})
    project.swarm("plan", GOAL, exits=3)
    assert [each.review.approved for each in project.events(ev.PlanReviewed)] == [False, True]
    (brief,) = project.briefs("architect", "revise")
    assert "nobody asked for part 1.1 [r2-msg-004 combatant]" in brief
    assert project.state.planning is Planning.REVIEWED
    context = project.folder.context.read_text()
    assert "Round 1, debate plan-round-1: REJECTED" in context
    assert "Round 2, debate plan-round-2: APPROVED" in context
    project.swarm("approve")
    project.swarm("run", exits=3)
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_what_still_stands_against_a_plan_is_told_before_its_approval(project: Project) -> None:
    project.play(
        *meeting("REJECT", "nobody asked for it"), review={"plan_seats": list(FOUR)}, loop={"critic_rounds": 1}
    )
    printed = project.swarm("plan", GOAL, exits=3).stdout
    assert "The debate still objects:" in printed
    assert "nobody asked for it" in printed


def test_a_meeting_without_votes_that_can_be_read_is_no_approval_and_no_word_of_the_critic(project: Project) -> None:
    fine = rule("participant", "debate", {"text": "APPROVED, all of it, I am delighted!"}, round="2")
    project.play(speaks(), fine, review={"plan_seats": ["pm", "engineer"]}, loop={"critic_rounds": 1, "replies": 1})
    printed = project.swarm("plan", GOAL, exits=3).stdout
    assert "The debate still objects:\n  - The debate decided nothing: all 2 voices failed in round 2" in printed
    assert [each.review.approved for each in project.events(ev.PlanReviewed)] == [False]
    assert "Round 1, debate plan-round-1: REJECTED" in project.folder.context.read_text()


def test_seats_speak_with_models_of_their_own_and_of_registered_agents(project: Project) -> None:
    seats = ["pm", "combatant=local/junior", "lawyer"]
    lawyer = {"system": "You know what may be kept about people.", "model": "local/junior"}
    rules = [
        speaks(),
        *(votes(seat, "APPROVE") for seat in ("product-manager", "combatant", "lawyer")),
        weighs("APPROVE"),
    ]
    project.play(*rules, review={"plan_seats": seats}, agents__lawyer=lawyer, agents__unused={"model": "local/junior"})
    project.swarm("plan", GOAL, exits=3)
    assert told(project, "lawyer")[0].count("You know what may be kept about people.") == 1
    asked = {each.headers["PARTICIPANT"]: each.model for each in project.requests if "PARTICIPANT" in each.headers}
    assert asked == {"product-manager": "senior", "combatant": "junior", "lawyer": "junior"}


def test_your_own_agent_of_the_name_of_a_persona_gives_it_a_model_and_words(project: Project) -> None:
    own = {"system": "You sell to hospitals.", "model": "local/junior"}
    rules = [speaks(), votes("product-manager", "APPROVE"), votes("engineer", "APPROVE"), weighs("APPROVE")]
    review = {"plan_seats": ["product-manager", "engineer"]}
    project.play(*rules, review=review, **{"agents__product-manager": own})
    project.swarm("plan", GOAL, exits=3)
    system, brief = told(project, "product-manager")
    assert "You sell to hospitals." in system
    assert "whose problem is it" in plain(brief)
    assert (
        next(each.model for each in project.requests if each.headers.get("PARTICIPANT") == "product-manager")
        == "junior"
    )


def test_a_role_may_sit_there_with_its_model_and_the_seat_of_an_architect_is_not_the_role(project: Project) -> None:
    rules = [speaks(), votes("architect", "APPROVE"), votes("coder", "APPROVE"), weighs("APPROVE")]
    project.play(*rules, review={"plan_seats": ["architect=local/junior", "coder"]})
    project.swarm("plan", GOAL, exits=3)
    asked = {each.headers["PARTICIPANT"]: each.model for each in project.requests if "PARTICIPANT" in each.headers}
    assert asked == {"architect": "junior", "coder": "junior"}
    models = project.json("status")["models"]
    assert (models["architect"]["model"], models["architect (seat)"]["model"]) == ("local/senior", "local/junior")


def test_in_auto_mode_a_first_look_decides_whether_the_meeting_is_held(project: Project) -> None:
    given = {"verdict": "APPROVE", "confidence": 0.95, "reasons": [{"text": "small", "cites": []}]}
    look = rule("participant", "first_look", {"text": f"Fine.\nFINAL_VERDICT:\n{json.dumps(given)}"})
    project.play(look, review={"plan_seats": ["pm", "combatant=local/junior"], "plan_mode": "auto"})
    project.swarm("plan", GOAL, exits=3)
    assert [weighed.held for weighed in project.events(ev.DebateWeighed)] == [False]
    assert len(project.briefs("critic", "review_plan")) == 1


def test_in_council_form_all_vote_at_once(project: Project) -> None:
    project.play(
        *(votes(seat, "APPROVE", round="1") for seat in FOUR),
        weighs("APPROVE", "as was said"),
        review={"plan_seats": list(FOUR), "plan_rounds": 1},
    )
    project.swarm("plan", GOAL, exits=3)
    assert {each.headers["ROUND"] for each in project.requests if "PARTICIPANT" in each.headers} == {"1"}
    assert project.events(ev.PlanReviewed)


@pytest.mark.parametrize(
    ("seats", "told"),
    [
        (["product-manager", "combatent"], "did you mean combatant?"),
        (["pm", "Product Manager"], "twice"),
        (["pm", "combatant="], "no model behind"),
        (["pm"], "names 1"),
        (["pm", "combatant=junior"], "provider/model"),
        (["pm", "combatant=lokal/junior"], "unknown provider `lokal`; did you mean `local`?"),
    ],
)
def test_seats_that_cannot_sit_there_are_refused_before_anything_is_paid(
    project: Project, seats: list[str], told: str
) -> None:
    project.play(review={"plan_seats": seats})
    assert told in project.swarm("plan", GOAL, exits=2).stderr
    assert project.requests == []


def test_one_model_on_all_seats_is_told(project: Project) -> None:
    project.play(*meeting("APPROVE"), review={"plan_seats": list(FOUR)})
    assert "all seats of the plan's review speak with local/senior" in project.swarm("plan", GOAL, exits=3).stderr


# --- by hand ---


def test_a_proposal_is_debated_by_the_cast(project: Project) -> None:
    project.play(*meeting("REJECT", "users lose their links"))
    given = ["--cast", "vision-alignment", "--participant", "combatant=local/junior"]
    printed = project.swarm("debate", "Links expire after a year", *given, exits=1).stdout
    assert printed.startswith("REJECT")
    assert next(each.model for each in project.requests if each.headers.get("PARTICIPANT") == "combatant") == "junior"
    assert {each.headers["PARTICIPANT"] for each in project.requests if "PARTICIPANT" in each.headers} == {*FOUR}


def test_a_file_names_seats_of_the_cast_as_people_do(project: Project, tmp_path: Path) -> None:
    seats = ["Red Team=local/junior", {"id": "User Advocate", "modelTier": "execution"}, "PM"]
    project.play(*meeting("APPROVE"))
    file = tmp_path / "meeting.json"
    file.write_text(json.dumps({"question": "Links expire?", "cast": "Vision Alignment", "participants": seats}))
    project.swarm("debate", str(file))
    asked = {str(each.headers["PARTICIPANT"]): each.model for each in project.requests if "PARTICIPANT" in each.headers}
    assert asked == {each: "junior" if each in ("combatant", "user-advocate") else "senior" for each in FOUR}
    file.write_text(json.dumps({"question": "Q?", "cast": "Vision Alignment", "participants": ["Two Words"]}))
    assert "`participants.1.id`: letters, digits" in project.swarm("debate", str(file), exits=2).stderr


@pytest.mark.parametrize("name", ["Vision Alignment Meeting", "vision_alignment"])
def test_the_words_of_the_document_find_the_cast(name: str) -> None:
    ids = ("product-manager", "user-advocate", "combatant", "architect")
    roles = [cast(name).persona(role) for role in ("PM", "User Advocate", "Combatant", "Architect")]
    assert tuple(each.id for each in roles if each) == ids


def test_an_unknown_cast_is_told_with_the_nearest() -> None:
    with pytest.raises(CouncilRefused, match="did you mean vision-alignment"):
        cast("vision-alingment")


def test_in_a_chat_too_your_own_agent_of_the_name_of_a_persona_speaks_with_its_words(
    project: Project, tmp_path: Path
) -> None:
    own = {"system": "You sell to hospitals.", "model": "local/junior"}
    project.play(
        rule("participant", "chat", [call("synthesize", summary="Links stay.")]), **{"agents__user-advocate": own}
    )
    file = tmp_path / "meeting.toml"
    opening = 'from = "moderator"\nto = "user-advocate"\ncontent = "Links expire?"\n'
    file.write_text(f'cast = "vision-alignment"\n[initial]\n{opening}')
    project.swarm("chat", str(file))
    [asked] = [each for each in project.requests if each.headers.get("STEP") == "chat"]
    system = plain(str(asked.messages[0]["content"]))
    assert asked.model == "junior"
    assert "You sell to hospitals." in system
    assert plain(cast("vision-alignment").personas[1].brief) in system  # what it does with a proposal stays
    assert plain(cast("vision-alignment").personas[1].system) not in system


@pytest.mark.slow
def test_the_examples_run(project: Project) -> None:
    three = [votes(seat, "APPROVE", round="3") for seat in FOUR]
    project.play(
        speaks(),
        *three,
        weighs("APPROVE", "as was said"),
        rule("participant", "chat", [call("synthesize", summary="Links stay.")]),
    )
    project.swarm("debate", str(ROOT / "examples/vision-alignment.toml"))
    printed = project.swarm("chat", str(ROOT / "examples/vision-alignment-chat.toml")).stdout
    assert "Links stay." in printed
    talking = next(each for each in project.requests if each.headers.get("STEP") == "chat")
    assert talking.headers["PARTICIPANT"] in FOUR


def test_the_words_are_found_where_people_look() -> None:
    printed = CliRunner().invoke(app, ["debate", "hold", "--help"]).stdout
    assert "Vision Alignment Meeting" in plain(printed)
    for page in ("docs/council.md", "docs/configuration.md", "docs/guards.md"):
        assert "Vision Alignment Meeting" in (ROOT / page).read_text("utf-8"), page
