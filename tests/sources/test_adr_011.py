"""The worked examples of ADR-011, as somebody types them who comes from it: debates, parallel tasks, a swarm chat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.project import Project, call, plain, rule

from swarmgate.config import load
from swarmgate.errors import ConfigError

DEBATE = """subagent({
  mode: "debate",
  rounds: 3,
  tasks: [
    { agent: "reviewer", task: "Make case for X. It is small." },
    { agent: "reviewer", task: "Attack X. It is slow." }
  ]
})
"""
ARGUED = """{
  "mode": "debate", "rounds": 2,
  "tasks": [
    {"agent": "reviewer", "task": "Argue FOR the cache."},
    {"agent": "reviewer", "task": "Argue AGAINST the cache."}
  ]
}"""
SWARM = """swarm({
  ttl_ms: 600_000,
  agents: [
    { id: "pm", model_tier: "planning", system: "PERSONA-PM" },
    { id: "user", model_tier: "validation", system: "PERSONA-USER" },
    { id: "combatant", model_tier: "validation", system: "PERSONA-COMBATANT" },
    { id: "architect", model_tier: "validation", system: "PERSONA-ARCHITECT" }
  ],
  initial: { from: "moderator", to: "all", content: "Roadmap proposal: links that expire." }
})
"""
EXAMPLES = Path(__file__).parents[2] / "examples"
MODELS: dict[str, Any] = {
    "roles__architect": {"model": "local/planner"},
    "roles__reviewer": {"model": "local/judge"},
    "roles__participant": {"model": "local/anybody"},
}
"""Who has which model: the documents' tiers and roles are told apart by it."""


def spoken(claim: str, verdict: str = "") -> dict[str, Any]:
    listed = json.dumps({"claims": [{"text": claim, "stance": "for", "evidence": ""}]})
    if not verdict:
        return {"text": f"I have looked at it.\n```json\n{listed}\n```"}
    reasons = [{"text": "it was shown", "cites": []}]
    return {"text": "FINAL_VERDICT:\n" + json.dumps({"verdict": verdict, "confidence": 0.8, "reasons": reasons})}


def debater(name: str, *verdicts: str) -> list[dict[str, Any]]:
    """A claim of its own in each round before the last one, and then its verdict."""
    *earlier, last = verdicts
    said = [spoken(each) for each in earlier] + [spoken("", last)]
    return [
        rule("participant", "debate", each, participant=name, round=str(at)) for at, each in enumerate(said, start=1)
    ]


SYNTHESIS = rule(
    "architect",
    "synthesize",
    {
        "text": json.dumps(
            {
                "verdict": "REJECT",
                "summary": "It is slow.",
                "reasons": [{"text": "it was shown", "cites": ["r1-msg-002"]}],
                "dissent": [],
            }
        )
    },
)


def held(project: Project, name: str, text: str, verb: str, *args: str, exits: int = 0) -> Any:
    path = project.root.parent / name
    path.write_text(text)
    return project.json(verb, str(path), *args, exits=exits)


def asked(project: Project) -> list[tuple[str, str, str]]:
    """Who was asked by which model, with which system message, in rounds of a debate."""
    return [
        (str(each.headers["PARTICIPANT"]), each.body["model"], each.messages[0]["content"])
        for each in project.requests
        if each.headers.get("STEP") == "debate"
    ]


@pytest.mark.slow
def test_the_debate_of_two_reviewers_runs_as_it_is_written(project: Project) -> None:
    project.play(
        *debater("reviewer-1", "It needs four lines.", "Nobody waits for it.", "APPROVE"),
        *debater("reviewer-2", "It reads the disk each time.", "A second call waits a second.", "REJECT"),
        SYNTHESIS,
        **MODELS,
    )
    told = held(project, "debate.yaml", DEBATE, "dispatch", exits=1)  # the parent's verdict is the exit code
    assert [each["name"] for each in told["replies"]] == ["reviewer-1", "reviewer-2"]
    assert (told["rounds"], told["outcome"]["rounds"]) == (3, 3)
    assert (told["outcome"]["verdict"], told["outcome"]["decided_by"]) == ("REJECT", "synthesis")
    assert {(name, model) for name, model, _ in asked(project)} == {
        ("reviewer-1", "judge"),
        ("reviewer-2", "judge"),
    }
    assert all("You look at the task as a reviewer" in system for _, _, system in asked(project))
    first, second = (project.briefs("participant", "debate", participant=f"reviewer-{n}") for n in (1, 2))
    assert "Make case for X. It is small." in first[0]
    assert "Attack X. It is slow." in second[0]
    assert ["Debate transcript so far" in each for each in first] == [False, True, True]
    assert "It reads the disk each time." in first[1]  # the advocate answers the challenger
    assert ["FINAL_VERDICT" in each for each in second] == [False, False, True]
    record = project.json("debate", "show", told["id"])
    assert [each["role"] for each in record["debate"]["seats"]] == ["reviewer", "reviewer"]
    assert [len(each["speeches"]) for each in record["rounds"]] == [2, 2, 2]
    [journal] = project.folder.discussions.glob("*.debate/journal.jsonl")  # each speech is kept as it is given
    events = [json.loads(line)["event"] for line in journal.read_text().splitlines()]
    spoke = [each["speech"] for each in events if each["type"] == "spoke"]
    assert sorted((each["round"], each["seat"]) for each in spoke) == [
        (number, f"reviewer-{seat}") for number in (1, 2, 3) for seat in (1, 2)
    ]
    assert all(each["prompt_hash"] for each in spoke)


@pytest.mark.slow
def test_the_other_debate_of_two_reviewers_runs_as_json(project: Project) -> None:
    project.play(
        *debater("reviewer-1", "It is fast.", "APPROVE"), *debater("reviewer-2", "It is stale.", "REJECT"), SYNTHESIS
    )
    told = held(project, "debate.json", ARGUED, "dispatch", exits=1)
    assert (told["rounds"], told["outcome"]["tally"]["approve"], told["outcome"]["tally"]["reject"]) == (2, 1, 1)
    assert told["question"].splitlines()[1:] == [
        "- reviewer-1: Argue FOR the cache.",
        "- reviewer-2: Argue AGAINST the cache.",
    ]


def test_rounds_are_two_by_default_five_at_most_and_of_debates_only(project: Project) -> None:
    project.play()
    without = ARGUED.replace('"rounds": 2,', "")
    path = project.root.parent / "debate.json"
    for text, told in (
        (ARGUED.replace('"rounds": 2', '"rounds": 6'), "line 2: `rounds` is 6: a debate has 1 to 5 rounds"),
        (ARGUED.replace('"mode": "debate"', '"mode": "parallel"'), "`rounds` is legal with mode debate only"),
        (
            ARGUED.replace('{"agent": "reviewer", "task": "Argue FOR the cache."},', ""),
            "there are 1 tasks: mode debate",
        ),
        (without.replace('"reviewer"', '"reviewr"'), "there is no agent 'reviewr'; did you mean `reviewer`?"),
    ):
        path.write_text(text)
        assert told in plain(project.swarm("dispatch", str(path), exits=2).stderr)
    from swarmgate.council.dispatch.file import read

    path.write_text(without)
    assert read(path).rounds == 2
    assert f"swarm dispatch --mode debate {path}" in plain(project.swarm("debate", str(path), exits=2).stderr)
    assert not project.requests


def test_tasks_without_a_mode_are_parallel_and_the_roles_speak_with_their_models(project: Project) -> None:
    answers = [
        rule("participant", "dispatch", {"text": f"{who} says so."}, participant=who) for who in ("critic", "ann")
    ]
    project.play(*answers, **MODELS)
    tasks = 'subagent({ tasks: [{ agent: "critic", task: "What breaks?" }, { participant: "ann", text: "And you?" }] })'
    told = held(project, "tasks.yml", tasks, "dispatch")
    assert (told["mode"], told["summary"]) == ("parallel", "2/2 succeeded")
    assert [each["text"] for each in told["replies"]] == ["critic says so.", "ann says so."]
    assert {each.headers["PARTICIPANT"]: each.body["model"] for each in project.requests} == {
        "critic": "senior",
        "ann": "anybody",
    }


@pytest.mark.slow
def test_the_swarm_of_four_negotiates_until_one_of_them_synthesises(project: Project) -> None:
    def voice(name: str, *replies: Any, **match: Any) -> dict[str, Any]:
        return rule("participant", "chat", *replies, participant=name, **match)

    project.play(
        rule("participant", "chat", {"text": "Read."}),
        voice("combatant", [call("send_message", to="pm", content="Who asked for it?")], {"text": "Asked."}),
        voice("pm", [call("synthesize", summary="Links expire, if users ask.")], contains="Who asked for it?"),
        **MODELS,
    )
    told = held(project, "meeting.yaml", SWARM, "chat")
    assert (told["end"], told["by"], told["summary"]) == ("synthesis", "pm", "Links expire, if users ask.")
    record = project.json("chat", "show", told["id"])
    assert (record["chat"]["ttl_s"], record["chat"]["opening"]["sender"]) == (600, "moderator")
    assert record["messages"][0]["message"]["content"] == "Roadmap proposal: links that expire."
    who = {
        str(each.headers["PARTICIPANT"]): (each.body["model"], each.messages[0]["content"]) for each in project.requests
    }
    assert {name: model for name, (model, _) in who.items()} == {
        "pm": "planner",
        "user": "judge",
        "combatant": "judge",
        "architect": "judge",
    }
    assert all(f"PERSONA-{name.upper()}" in system for name, (_, system) in who.items())
    assert "ARCHIVED" in project.swarm("chat", "resume", told["id"], "--json", exits=2).stdout


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("ttl_ms: 600_000", "ttl_ms: 0", "line 2: `ttl_ms` is '0': it must be a number of milliseconds above 0"),
        ("ttl_ms: 600_000", "ttl_ms: 9, ttl_s: 9", "line 2: `ttl_ms` is given, and `ttl_s`, too"),
        ("ttl_ms", "tttl_ms", "line 2: unknown key `tttl_ms`; did you mean `ttl_ms`?"),
        ('"planning"', '"planing"', "line 4: `agents[0].model_tier`: there is no model tier `planing`"),
        ('"planning"', '"planning", model: "local/x"', "`agents[0].model_tier`: a `model` is given, too"),
        ('id: "pm", ', 'agent: "pmm", ', "line 4: `agents[0].agent`: there is no agent 'pmm'"),
        ("agents: [", "agents: 5, others: [", "line 3: unknown key `others`"),
        (SWARM, "agents: 5\ninitial: {content: x}", "line 1: `agents` must be a list"),
        (SWARM, "agents: [5, 6]\ninitial: {content: x}", "line 1: `agents[0]`"),
        (SWARM, "- pm\n- user", "has no keys at its top"),
        ("})", "", "is not valid YAML"),
    ],
)
def test_what_is_wrong_in_a_swarm_is_told_with_its_place(project: Project, old: str, new: str, told: str) -> None:
    path = project.root.parent / "meeting.yaml"
    path.write_text(SWARM.replace(old, new, 1))
    project.configure()
    assert told in plain(project.swarm("chat", str(path), exits=2).stderr)


def test_a_tier_is_a_setting_and_without_one_the_model_of_its_role(tmp_path: Path) -> None:
    def tiers(text: str, *names: str) -> list[str]:
        path = tmp_path / "config.toml"
        path.write_text(f'[providers.p]\nbase_url = "http://127.0.0.1:9/v1"\n{text}')
        config = load(user_file=tmp_path / "none", project_file=path, environ={})
        return [config.tier(name) for name in names]

    roles = '[roles.default]\nmodel = "p/d"\n[roles.reviewer]\nmodel = "p/r"\n[roles.architect]\nmodel = "p/a"\n'
    assert tiers(roles, "planning", "validation", "execution", "critic", "reviewer") == [
        "p/a",
        "p/r",
        "p/d",
        "p/d",
        "p/r",
    ]
    own = f'{roles}[models.tiers]\nplanning = "p/mine"\nfast = "p/f"\n'
    assert tiers(own, "planning", "fast", "validation") == ["p/mine", "p/f", "p/r"]
    with pytest.raises(ConfigError, match=r"there is no model tier `fastt`") as refused:
        tiers(own, "fastt")
    assert '[models.tiers]\nfastt = "PROVIDER/' in refused.value.hint
    with pytest.raises(ConfigError, match=r"line 4: `models.tiers.fast`: unknown provider `q`"):
        tiers('[models.tiers]\nfast = "q/f"\n')


# --- who asked for debates there ---


@pytest.mark.slow
def test_what_the_consumers_of_the_document_ask_for_is_shipped_as_examples(project: Project) -> None:
    project.play(
        *debater("reviewer-1", "It is asked for.", "Two users wait for it.", "APPROVE"),
        *debater("reviewer-2", "It is dear.", "Nobody mends it.", "REJECT"),
        rule("participant", "dispatch", {"text": "{{participant}} has looked."}),
        rule("participant", "chat", {"text": "Read."}),
        rule("participant", "chat", [call("synthesize", summary="Less.")], participant="pm"),
        SYNTHESIS,
        **MODELS,
    )
    told = project.json("dispatch", str(EXAMPLES / "advisory-partner.yaml"), exits=1)
    assert [each["name"] for each in told["replies"]] == ["reviewer-1", "reviewer-2"]
    review = project.json("dispatch", str(EXAMPLES / "requesting-code-review.yaml"))
    assert (review["mode"], review["summary"]) == ("parallel", "3/3 succeeded")
    project.requests.clear()
    ideas = project.json("chat", str(EXAMPLES / "brainstorming.yaml"))
    assert (ideas["end"], ideas["summary"]) == ("synthesis", "Less.")
    models = {str(each.headers["PARTICIPANT"]): each.body["model"] for each in project.requests}
    assert models.items() <= {"pm": "planner", "user": "judge", "combatant": "judge", "architect": "judge"}.items()


# --- what it costs ---


def test_a_debate_that_cannot_be_paid_is_refused_before_anybody_is_asked(project: Project) -> None:
    project.play(*debater("reviewer-1", "APPROVE"), council={"total_tokens": 500})
    told = held(project, "debate.json", ARGUED, "dispatch", exits=4)
    assert "the first round (its prompts alone)" in told["message"]
    assert not project.requests


@pytest.mark.slow
def test_a_voice_has_tokens_of_its_own_in_a_round_and_the_other_is_still_heard(project: Project) -> None:
    look = {
        "tool_calls": [{"name": "list_files", "arguments": {}}],
        "usage": {"prompt_tokens": 400, "completion_tokens": 400},
    }
    project.play(
        rule("participant", "debate", *[look] * 20, participant="reviewer-1"),
        *debater("reviewer-2", "It is stale.", "REJECT"),
        SYNTHESIS,
        council={"tokens": 500},
    )
    told = held(project, "debate.json", ARGUED, "dispatch", exits=1)
    record = project.json("debate", "show", told["id"])
    floods, speaks = record["rounds"][0]["speeches"]
    assert "tokens" in floods["failed"]
    assert (speaks["failed"], speaks["claims"][0]["text"]) == ("", "It is stale.")
    first = [each for each in project.requests if each.headers.get("PARTICIPANT") == "reviewer-1"]
    assert len(first) < 20
