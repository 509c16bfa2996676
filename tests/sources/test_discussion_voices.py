"""Tests the structured-discussion document's forms: personas, tension map, problem, positions, arguments, responses.

The keys are those of the document, the sentences are not.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from tests.council.discussion_script import ASSESSED, CONCLUDED, says
from tests.project import Project, Rule, plain, rule

from swarmgate.agents.tools.answer_text import Unread
from swarmgate.council.discussion import personas
from swarmgate.council.discussion.answers.experts import Part, Reader
from swarmgate.council.discussion.answers.moderation import framing_of
from swarmgate.council.discussion.answers.values import LONGEST
from swarmgate.council.discussion.model import Mode, Relation, ShiftKind
from swarmgate.council.discussion.request import discussion_of
from swarmgate.council.discussion.steps.cast import experts_of
from swarmgate.engine import Swarm
from swarmgate.errors import CouncilRefused

TOPIC = "Microservice Transaction Management"
NAMES = ("database-expert", "api-designer", "operations-engineer", "security-engineer")


def expert(name: str) -> dict[str, Any]:
    return {
        "id": name,
        "name": name.replace("-", " ").title(),
        "expertise": [f"what a {name} knows", "outages"],
        "thinkingStyle": "pragmatic",
        "bias": "its own layer first",
        "replyTendency": "shows a concrete case",
        "stakes": f"the pager of the {name}",
        "blindSpots": ["costs elsewhere", "people"],
    }


def analysis(count: int = 2) -> dict[str, Any]:
    """What the analysis of a topic comes to in the document: experts, tension map, problem definition."""
    axis = "strict schemas against loose coupling"
    return {
        "experts": [expert(each) for each in NAMES[:count]],
        "tensionMap": [{"between": list(NAMES[:2]), "axis": axis, "description": "who changes a field"}],
        "problemDefinition": {
            "statement": "Orders span four services.",
            "scope": "Orders and payments, not reporting",
            "successCriteria": ["no order is charged twice", "recovery within a minute"],
        },
    }


def position(name: str, **more: Any) -> dict[str, Any]:
    return {
        "from": name,
        "type": "position_declaration",
        "position": f"{name}: a saga with an orchestrator",
        "confidence": 0.7,
        "conditions": "fewer than ten services",
        "wouldChangeIf": "the orchestrator takes more than a third of a request's latency",
        "keyRisk": "compensations that fail",
        **more,
    }


ARGUMENT = {
    "position": "Keep the orchestrator.",
    "reasoning": "One place to look at when a payment hangs.",
    "proposals": ["A time-out for each step."],
    "references": [
        {"targetId": "r1-msg-002", "relation": "extends", "comment": "adds the time-out"},
        {"targetId": "r1-msg-003"},
    ],
    "counterpoints": ["Regarding r1-msg-002: events alone hide the order."],
    "questions": ["Who owns the time-outs?"],
    "codeOrDiagrams": "order -> pay -> ship",
    "wouldChangeIf": "traces show the order without it",
}
STRESS_TEST = {
    "id": "r1-msg-006",
    "from": "contrarian",
    "type": "stress_test",
    "content": "Nobody says what happens when a compensation fails.",
    "references": [{"targetId": "r1-msg-001", "type": "counters"}, {"targetId": "r1-msg-002", "type": "counters"}],
    "timestamp": "2026-01-29T10:33:00Z",
}
RESPONSE = {
    "response": "A failed compensation needs a breaker.",
    "positionShift": "minor",
    "currentPosition": "An orchestrator with breakers.",
    "previousPosition": "An orchestrator.",
    "shiftReason": "cascades were not in my picture",
}
RESPONDS = [{"targetId": "r1-msg-006", "type": "responds_to"}]
SEEN = {
    "r1-msg-001": NAMES[0],
    "r1-msg-002": NAMES[1],
    "r1-msg-003": "moderator",
    "r1-msg-006": "contrarian",
}
READER = Reader(NAMES[0], SEEN, stands="An orchestrator, plain.", stress="r1-msg-006")


def otherwise(read: Callable[[str], Part], given: Any) -> tuple[str, Part]:
    """What is asked for once more, and what the answer comes to where it stays as it is."""
    with pytest.raises(Unread) as unread:
        read(json.dumps(given))
    return unread.value.problem, cast("Part", unread.value.otherwise)


# --- positions ---


def test_a_position_is_read_by_itself_and_as_the_content_of_a_message() -> None:
    given = position(NAMES[0])
    fields = {key: value for key, value in given.items() if key not in ("from", "type")}
    message = {"id": "r2-msg-001", "from": NAMES[0], "type": "position_declaration", "content": fields}
    for form in (given, message):
        part = READER.position.read(json.dumps(form))
        made = part["position"]
        assert (made.position, made.confidence, made.conditions) == (
            given["position"],
            0.7,
            ("fewer than ten services",),
        )
        assert (made.would_change_if, made.key_risk) == (given["wouldChangeIf"], given["keyRisk"])
        assert part["noted"] == ()


@pytest.mark.parametrize("said", [None, "", "Nothing.", "none", "N/A"])
def test_a_position_that_nothing_could_change_is_asked_for_once_more_and_noted(said: str | None) -> None:
    problem, part = otherwise(READER.position.read, position(NAMES[0], wouldChangeIf=said))
    assert "`wouldChangeIf` must name" in problem
    assert part["position"].would_change_if == ""
    assert "`wouldChangeIf`" in part["noted"][0]


# --- arguments ---


def test_an_argument_in_the_experts_output_format_keeps_all_that_it_says() -> None:
    part = READER.argument.read(json.dumps(ARGUMENT))
    assert [(each.to, each.kind, each.comment) for each in part["links"]] == [
        ("r1-msg-002", Relation.EXTENDS, "adds the time-out"),
        ("r1-msg-003", Relation.RESPONDS_TO, ""),
    ]
    for said in ("Keep the orchestrator.", "One place to look", "A time-out", "hide the order", "Who owns", "-> pay"):
        assert said in part["text"]
    assert part["would_change_if"] == "traces show the order without it"
    assert part["noted"] == part["unresolved"] == ()


@pytest.mark.parametrize("kind", ["supports", "extends", "questions"])
@pytest.mark.parametrize("key", ["relation", "type", "kind"])
def test_references_have_each_relation_under_each_key(kind: str, key: str) -> None:
    given = {"reasoning": "So.", "references": [{"targetId": "r1-msg-002", key: kind}]}
    assert [(each.to, str(each.kind)) for each in READER.argument.read(json.dumps(given))["links"]] == [
        ("r1-msg-002", kind)
    ]


def test_references_without_a_relation_of_their_own_are_answers() -> None:
    given = {"reasoning": "So.", "references": [{"targetId": "r1-msg-002", "type": "references"}, "r1-msg-006"]}
    assert {(each.to, each.kind) for each in READER.argument.read(json.dumps(given))["links"]} == {
        ("r1-msg-002", Relation.RESPONDS_TO),
        ("r1-msg-006", Relation.RESPONDS_TO),
    }
    unknown = {"reasoning": "So.", "references": [{"targetId": "r1-msg-042", "relation": "supports"}]}
    assert "no message r1-msg-042" in otherwise(READER.argument.read, unknown)[0]


@pytest.mark.parametrize("key", ["argument", "message", "response", "content"])
def test_an_argument_may_stand_in_an_object_of_its_own(key: str) -> None:
    assert READER.argument.read(json.dumps({key: ARGUMENT})) == READER.argument.read(json.dumps(ARGUMENT))
    beside = {key: {"reasoning": "So."}, "references": ARGUMENT["references"]}
    part = READER.argument.read(json.dumps(beside))
    assert (part["text"], len(part["links"])) == ("So.", 2)
    told = {"analogy": {"field": "railways", "law": "interlocking"}, "references": ["r1-msg-002"]}
    assert READER.argument.read(json.dumps(told))["text"] == "field: railways; law: interlocking"


def test_a_stance_beside_prose_is_kept() -> None:
    text = f"I looked at the traces.\n```json\n{json.dumps(ARGUMENT)}\n```"
    said = READER.argument.read(text)["text"].split("\n\n")
    assert said[:3] == ["Keep the orchestrator.", "I looked at the traces.", ARGUMENT["reasoning"]]


def test_a_call_of_the_tool_is_read_like_a_text() -> None:
    for form, given in ((READER.argument, ARGUMENT), (READER.response, {**RESPONSE, "references": RESPONDS})):
        called = form.take(form.schema.given(given))  # type: ignore[arg-type]  # of that form's schema
        assert called == form.read(json.dumps(given))


def test_a_steel_man_is_found_where_the_document_has_it_in_the_prose() -> None:
    prose = (
        "Before I answer, let me confirm I understand the position: events need no centre, so none can fail.\n\n"
        "My concern with this is: nobody sees the order."
    )
    counter = [{"targetId": "r1-msg-002", "relation": "counters"}]
    (link,) = READER.argument.read(json.dumps({"reasoning": prose, "references": counter}))["links"]
    assert link.steel_man == "events need no centre, so none can fail."
    assert "steelMan" in otherwise(READER.argument.read, {"reasoning": "No.", "references": counter})[0]


def test_a_stress_test_is_kept_with_its_counters() -> None:
    problem, part = otherwise(Reader("contrarian", SEEN).attack.read, STRESS_TEST)
    assert "without a `steelMan`" in problem
    assert part["text"] == STRESS_TEST["content"]
    assert [(each.to, each.kind) for each in part["links"]] == [
        ("r1-msg-001", Relation.COUNTERS),
        ("r1-msg-002", Relation.COUNTERS),
    ]


# --- responses ---


@pytest.mark.parametrize(
    "given",
    [
        {**RESPONSE, "references": RESPONDS},
        {"from": NAMES[0], "type": "response", "content": RESPONSE, "references": RESPONDS},
        {**RESPONSE, "position": "An old stance.", "reasoning": "It cascades.", "references": RESPONDS},
    ],
    ids=["plain", "message", "with-the-experts-output"],
)
def test_a_response_is_taken_as_it_stands_and_its_shift_cites_the_stress_test(given: dict[str, Any]) -> None:
    part = READER.response.read(json.dumps(given))
    shift = part["shift"]
    assert (shift.kind, shift.cites, shift.refused) == (ShiftKind.MINOR, ("r1-msg-006",), "")
    assert (shift.previous_position, shift.reason) == ("An orchestrator.", "cascades were not in my picture")
    assert (part["position"].position, part["position"].confidence) == ("An orchestrator with breakers.", None)
    assert "needs a breaker" in part["text"]
    assert [(each.to, each.kind) for each in part["links"]] == [("r1-msg-006", Relation.RESPONDS_TO)]
    assert part["noted"] == ()


def test_long_texts_are_cut_under_the_documents_keys_too() -> None:
    long = {**RESPONSE, "currentPosition": "now " * 900, "shiftReason": "so " * 900, "references": RESPONDS}
    part = READER.response.read(json.dumps(long))
    assert len(part["position"].position) <= LONGEST
    assert len(part["shift"].reason) <= LONGEST
    assert {each.split()[0] for each in part["noted"]} == {"`position`", "`shift`"}
    references = [{"targetId": "r1-msg-002", "relation": "extends", "comment": "why " * 900}]
    part = READER.argument.read(json.dumps({**ARGUMENT, "references": references}))
    assert len(part["links"][0].comment) <= LONGEST


def test_a_shift_says_why_and_what_it_names_itself_goes_before_the_stress_test() -> None:
    given = {**RESPONSE, "references": RESPONDS}
    without = {key: value for key, value in given.items() if key not in ("shiftReason", "previousPosition")}
    problem, part = otherwise(READER.response.read, without)
    assert "must say why" in problem
    assert part["shift"].refused
    own = {**given, "shift": {"kind": "major", "reason": "so", "cites": ["r1-msg-002"]}}
    del own["positionShift"], own["previousPosition"]
    shift = READER.response.read(json.dumps(own))["shift"]
    assert (shift.kind, shift.cites, shift.previous_position) == ("major", ("r1-msg-002",), "An orchestrator, plain.")
    wrong = {**given, "cites": ["r1-msg-001"]}
    assert otherwise(READER.response.read, wrong)[1]["shift"].refused, "its own message moves nobody"
    calm = {**given, "positionShift": "none", "shiftReason": "it does not hit my case"}
    shift = READER.response.read(json.dumps(calm))["shift"]
    assert (shift.kind, shift.cites) == (ShiftKind.NONE, ())
    alone = Reader(NAMES[0], SEEN)
    assert otherwise(alone.response.read, given)[1]["shift"].refused, "where nobody attacked, nothing moved it"


# --- the moderator's questions ---


@pytest.mark.parametrize(
    ("given", "to"),
    [
        ({"to": ["api-designer"], "text": "What breaks?"}, ("api-designer",)),
        ({"expert": "Api Designer", "question": "What breaks?"}, ("api-designer",)),
        ({"directedTo": "database-expert, api-designer", "question": "What breaks?"}, NAMES[:2]),
        ("Database Expert: what breaks first?", ("database-expert",)),
        ("What breaks first?", ()),
    ],
)
def test_questions_go_to_the_experts_that_they_name(given: Any, to: tuple[str, ...]) -> None:
    names = {each: each for each in NAMES} | {each.replace("-", " ").title(): each for each in NAMES}
    frame = {"faultLines": ["order"], "questions": [given], "disagreementBudget": 4}
    (asked,) = framing_of(names).read(json.dumps(frame))["framing"].questions
    assert asked.to == tuple(to)
    assert "breaks" in asked.text
    stray = framing_of(names).read(json.dumps({**frame, "questions": [{"to": "a poet", "text": "Why?"}, *["x"] * 3]}))
    assert stray["framing"].questions[0].to == ()
    assert stray["noted"] == ("1 questions were left out: a round has at most 3", "a poet in a question is no voice")


# --- personas ---


def test_the_analysis_is_read_from_a_file_and_from_the_moderator(tmp_path: Path) -> None:
    path = tmp_path / "analysis.json"
    path.write_text(json.dumps(analysis()), "utf-8")
    cast_ = personas.read(path)
    first = cast_.experts[0]
    assert (first.expertise, first.blind_spots) == ("what a database-expert knows, outages", "costs elsewhere, people")
    assert cast_.tensions[0].between == NAMES[:2]
    assert cast_.problem_definition
    assert cast_.problem_definition.success_criteria == ("no order is charged twice", "recovery within a minute")
    assert personas.parsed(personas.written(cast_), "it") == cast_
    made = experts_of(discussion_of(id="d", topic=TOPIC)).read(json.dumps(analysis()))
    assert (made.experts, made.tensions, made.problem_definition) == (
        cast_.experts,
        cast_.tensions,
        cast_.problem_definition,
    )


@pytest.mark.parametrize("suffix", ["json", "yaml", "toml"])
def test_any_trait_may_be_a_list_and_the_problem_a_sentence(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"analysis.{suffix}"
    experts = [{**each, "stakes": ["pages", "trust"], "bias": ["old", "new"]} for each in analysis()["experts"]]
    given = {**analysis(), "experts": experts, "problemDefinition": "Orders span four services."}
    path.write_text(yaml.safe_dump(given) if suffix == "yaml" else json.dumps(given), "utf-8")
    cast_ = personas.read(path)
    assert {(each.stakes, each.bias) for each in cast_.experts} == {("pages, trust", "old, new")}
    assert cast_.problem_definition
    assert cast_.problem_definition.statement == "Orders span four services."
    made = experts_of(discussion_of(id="d", topic=TOPIC)).read(json.dumps(given))
    assert (made.experts, made.problem_definition) == (cast_.experts, cast_.problem_definition)


def test_a_list_alone_is_that_of_the_experts(tmp_path: Path) -> None:
    path = tmp_path / "experts.json"
    path.write_text(json.dumps(analysis()["experts"], indent=1), "utf-8")
    assert [each.id for each in personas.read(path).experts] == [each["id"] for each in analysis()["experts"]]


def test_a_moderator_may_name_experts_as_a_manifest_does_and_tensions_by_name() -> None:
    given = analysis()
    named = [each["name"].upper() for each in given["experts"][:2]]
    tension = {"between": named, "axis": "order"}
    said = {"personas": given["experts"], "tensionMap": [tension, "people against machines"]}
    made = experts_of(discussion_of(id="d", topic=TOPIC)).read(json.dumps(said))
    assert [each.id for each in made.experts] == [each["id"] for each in given["experts"]]
    assert [each.between for each in made.tensions] == [NAMES[:2]]
    assert made.dropped == ("a tension that does not pair two of the experts: people against machines",)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"tensionMap": [{"between": ["a"], "axis": "x"}]}, "line 1: `tensionMap.1.between`: must be the ids of two"),
        ({"tensionMap": [{"between": ["a", "A B"], "axis": "x"}]}, "`tensionMap.1.between`: must be the ids of two"),
        ({"experts": [{"id": "a", "name": ["A"], "expertise": "x"}]}, "`experts.1.name`: must be a text"),
        ({"problemDefinition": {"statment": "x"}}, "unknown key `statment`; did you mean `statement`?"),
        ({"problemDefinition": {"scope": "x"}}, "the key `statement` is missing"),
        (
            {"problemDefinition": {"statement": "x" * 11_000}},
            "json, line 1: `problemDefinition`: has 11,000 characters: the limit is 10,000",
        ),
        ({"tensionMap": [{"between": ["a", "b"], "axes": "x"}]}, "unknown key `axes`; did you mean `axis`?"),
        ({"tensionMap": [{"between": ["a", "b"], "axis": "x"}]}, "there is no expert 'a'"),
    ],
)
def test_mistakes_in_the_documents_keys_are_named(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    path = tmp_path / "analysis.json"
    path.write_text(json.dumps(analysis() | change), "utf-8")
    with pytest.raises(CouncilRefused) as refused:
        personas.read(path)
    assert told in refused.value.message


# --- whole discussions ---


def discussing(count: int = 2, *, recommends: str = "synthesize") -> tuple[Rule, ...]:
    """All voices speak in the document's JSON; the API designer names what would change its mind when asked again."""
    unfalsifiable = position(NAMES[1], wouldChangeIf="")
    asked = {"to": [NAMES[0]], "question": "What does a failed compensation cost?"}
    frame = {"faultLines": [{"between": NAMES[:2], "axis": "order"}], "questions": [asked], "disagreementBudget": 5}
    moved = {**RESPONSE, "references": RESPONDS}
    calm = {"response": "It does not hit loose coupling.", "positionShift": "none", "references": RESPONDS}
    came_up = [
        {"expert": NAMES[0], "cameUp": True, "cites": ["r1-msg-006"]},
        {"expert": NAMES[1], "cameUp": True, "cites": ["r1-msg-002"]},
    ]
    return (
        says("experts", "", analysis(count)),
        says("position", "", position("{{participant}}")),
        rule(
            "participant",
            "position",
            *({"text": json.dumps(each)} for each in (unfalsifiable, position(NAMES[1]))),
            participant=NAMES[1],
            round="1",
        ),
        says("frame", "", frame),
        rule("participant", "argue", {"text": json.dumps(ARGUMENT)}),
        says(
            "argue",
            "Loose it is.",
            {
                "references": [{"targetId": "r1-msg-001", "relation": "counters"}],
                "steelMan": "One place sees the whole order.",
            },
            participant=NAMES[1],
        ),
        rule("participant", "attack", {"text": json.dumps(STRESS_TEST)}),
        rule("participant", "ask", {"text": "Where is the common ground of r1-msg-001 and r1-msg-002?"}),
        rule("participant", "respond", {"text": json.dumps(calm)}),
        rule("participant", "respond", {"text": json.dumps(moved)}, participant=NAMES[0]),
        says("analogy", "Railways have interlocking.", {"references": [{"targetId": "r1-msg-006", "type": "extends"}]}),
        says("assess", "", {**ASSESSED, "recommendation": recommends}),
        rule("participant", "record", {"text": "r1-msg-008 moved."}),
        says("conclude", "", {**CONCLUDED, "wouldChangeIf": came_up}),
    )


@pytest.mark.slow
def test_a_standard_discussion_in_the_documents_forms(project: Project, tmp_path: Path) -> None:
    project.play(*discussing())
    name = "microservice-transaction-management"
    done = project.swarm("discuss", TOPIC, "--name", name, "--yes")
    record = Swarm(project.root).council.discussion_record(name)
    first = record.rounds[0]
    assert (record.status, len(record.rounds), len(first.messages)) == ("complete", 2, 11)
    assert not [each.failed for each in first.messages if each.failed]

    own = {"STEP": "position", "PARTICIPANT": NAMES[1], "ROUND": "1"}
    asked = [each for each in project.requests if own.items() <= each.headers.items()]
    assert len(asked) == 2, "a position that nothing could change is asked for once more"
    assert "`wouldChangeIf` must name" in str(asked[1].messages[-1]["content"])
    assert [each.position and bool(each.position.would_change_if) for each in first.messages[:2]] == [True, True]
    brief = project.briefs("participant", "argue", participant=NAMES[0], round="1")[0]
    assert "## The moderator asks you" in brief
    assert "[r1-msg-003] What does a failed compensation cost?" in brief
    assert "## The moderator asks you" not in project.briefs("participant", "argue", participant=NAMES[1], round="1")[0]
    for step in ("frame", "conclude"):
        text = project.briefs("participant", step)[0]
        assert "Solved when: no order is charged twice" in text
        assert "Orders and payments, not reporting" in text
    attack = project.briefs("participant", "attack", round="1")[0]
    assert "## The strongest consensus" in attack
    assert "## The minority" in attack
    assert "r1-msg-001" in attack.partition("## The minority")[2]

    assert record.conclusion
    assert [(each.author, each.status, each.cites, each.moved) for each in record.conclusion.change_conditions] == [
        (NAMES[0], "came-up", ("r1-msg-006",), True),  # of its position, which goes before that of its argument
        (NAMES[1], "unproven", (), False),
    ]
    folder = project.folder.discussions / name
    for place in ("artifacts/synthesis.md", "artifacts/discussion.html"):
        text = (folder / place).read_text("utf-8")
        assert "came up, and it moved" in text
        assert "no order is charged twice" in text

    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert (manifest["id"], manifest["title"], manifest["team_name"]) == (name, TOPIC, f"discussion-{name}")
    assert (manifest["status"], manifest["mode"], manifest["currentRound"]) == ("complete", "standard", 2)
    assert manifest["problemDefinition"] == analysis()["problemDefinition"]
    assert manifest["tensionMap"] == analysis()["tensionMap"]
    voices = [*NAMES[:2], "moderator", "historian", "contrarian", "cross-domain"]
    assert [each["id"] for each in manifest["personas"]] == voices
    for each in voices:
        assert json.loads((folder / f"personas/{each}.json").read_text("utf-8"))["id"] == each

    told = plain(done.stderr)
    progress = (folder / "progress.md").read_text("utf-8")
    for line in (
        "position declarations: 2 experts declared where they stand, with a confidence of 0.70.",
        "moderator's framing: The moderator names 1 fault line and puts 1 question to experts.",
        "responses and position shifts: 2 experts responded; 1 moved.",
    ):
        assert f"round 1, {line}" in told
        assert line[1:] in progress
    assert "Key takeaway: database-expert moved (minor) because of r1-msg-006" in told
    assert "**Key takeaway**: database-expert moved (minor) because of r1-msg-006" in progress
    assert progress.count("**Key takeaway**") == sum(len(each.done) for each in record.rounds)
    calls = sum(each.usage.calls for each in first.messages)
    assert f"Calls of round 1: {calls}; contributions 6, of 5 to 8." in done.stdout
    assert f"Calls of round 1: {calls}; contributions 6, of 5 to 8." in progress


@pytest.mark.slow
def test_a_deep_discussion_has_three_rounds_at_least_whatever_the_moderator_wants(project: Project) -> None:
    project.play(*discussing(4))
    record = project.json("discuss", TOPIC, "--mode", "deep", "--yes")
    assert (record["status"], len(record["rounds"])) == ("complete", 3)
    assert len(record["cast"]["experts"]) == 4
    assert {each["author"] for each in record["rounds"][0]["messages"]} == {
        *NAMES,
        *("moderator", "historian", "contrarian", "cross-domain"),
    }
    few = project.swarm("discuss", TOPIC, "--mode", "deep", "--model", "database-expert=x/y", exits=2)
    assert "who does not take part" in few.stderr


@pytest.mark.slow
def test_what_voices_are_told_about_dissent_authority_analogies_and_themselves(project: Project) -> None:
    project.play(*discussing())
    project.swarm("discuss", TOPIC, "--yes", "--rounds", "1")
    system = {str(each.headers["STEP"]): str(each.messages[0]["content"]) for each in project.requests}
    fields = ["biology", "physics", "economics", "law", "military strategy", "urban planning", "game theory", "ecology"]
    analogy = " ".join(system["analogy"].split())
    assert [each for each in fields if each not in analogy] == []
    assert "where the analogy breaks down" in analogy
    assert "strengthen that with an argument that is new" in system["attack"]
    for step in ("argue", "attack", "respond", "analogy"):
        assert "Authority is no evidence" in system[step]
    assert "the evidence that would change your mind" in system["argue"]
    own = next(str(each.messages[0]["content"]) for each in project.requests if each.headers["PARTICIPANT"] == NAMES[0])
    for told in ("the pager of the database-expert", "costs elsewhere, people", "its own layer first", "pragmatic"):
        assert told in own


def test_the_problem_is_given_by_options_and_names_are_unique(project: Project, tmp_path: Path) -> None:
    project.play(*discussing())
    path = tmp_path / "analysis.json"
    path.write_text(json.dumps(analysis()), "utf-8")
    options = ("--personas", str(path), "--mode", "lightweight", "--name", "saga")
    done = project.swarm("discuss", TOPIC, *options, "--problem", "Payments hang.", "--success", "none", exits=3)
    assert "Payments hang." in done.stdout
    assert "Solved when: none" in done.stdout
    assert not project.requests, "experts, tensions and the problem are given: there is nothing to ask"
    manifest = json.loads((project.folder.discussions / "saga" / "manifest.json").read_text("utf-8"))
    assert (manifest["status"], manifest["currentPhase"], manifest["currentRound"]) == ("prepared", "initial", 0)
    assert manifest["problemDefinition"]["successCriteria"] == ["none"]
    project.swarm("discuss", TOPIC, "--problem", "Payments hang.", "--scope", "Not refunds.", exits=3)
    (brief,) = project.briefs("participant", "experts")
    assert "Payments hang.\nScope: Not refunds." in brief, "experts are chosen for the problem that was given"
    taken = project.swarm("discuss", "Another topic", *options, exits=2).stderr
    assert "There is another discussion with the id saga: it differs in" in taken
    wrong = project.swarm("discuss", TOPIC, "--name", "no/slash", exits=2).stderr
    assert "no id of a discussion" in wrong
    assert "--scope and --success go with --problem" in project.swarm("discuss", TOPIC, "--scope", "x", exits=2).stderr
    long = project.swarm("discuss", TOPIC, "--problem", "x" * 10_001, "--yes", exits=2).stderr
    assert "--problem has 10,001 characters: the limit is 10,000" in long


def test_a_mode_that_asks_for_more_experts_refuses_fewer(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "analysis.json"
    path.write_text(json.dumps(analysis(2)), "utf-8")
    refused = project.swarm("discuss", TOPIC, "--mode", Mode.DEEP, "--personas", str(path), "--yes", exits=2)
    assert "the limit of a deep discussion is 3 to 4" in refused.stderr
