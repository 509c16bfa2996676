"""The agent registry of ADR 0007: one table in the settings, named by every verb that asks agents."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.council.discussion_script import discussing
from tests.council.dispatch.test_facade import says
from tests.project import Project, plain, rule
from typer.testing import CliRunner

from swarmgate.cli.app import app
from swarmgate.engine import Swarm

REGISTRY: dict[str, dict[str, Any]] = {
    "roles__reviewer": {"model": "local/judge"},
    "models__tiers": {"large": "local/large"},
    "agents__security": {
        "role": "security expert", "system": "OF-SECURITY", "model": "local/guard", "weight": 1.0, "folder": "src",
    },
    "agents__ux": {"role": "user researcher", "system_file": "docs/ux.md", "model_tier": "large", "weight": 0.25},
}  # fmt: skip
"""An agent with everything in its table, and one whose text is a file and whose model is a tier's."""

WEIGHTED = ("--strategy", "weighted", "--rounds", "1")
DECIDED = rule("participant", "facilitate", {"text": '{"proposal": "We do it.", "openPoints": []}'})


@pytest.fixture
def registered(project: Project) -> Project:
    project.write("docs/ux.md", "OF-UX\n")
    return project


def stands(who: str, level: float) -> dict[str, Any]:
    body = {"agreement": level, "stand": "agree" if level > 0.5 else "disagree"}
    return rule("participant", "contribute", {"text": json.dumps(body)}, participant=who)


def voices(project: Project) -> dict[str, tuple[str, bool]]:
    """Who was asked by which model, and whether with the text of its agent."""
    return {
        str(each.headers["PARTICIPANT"]): (
            each.body["model"],
            "OF-SECURITY" in each.messages[0]["content"] or "OF-UX" in each.messages[0]["content"],
        )
        for each in project.requests
        if "PARTICIPANT" in each.headers
    }


def test_a_decision_names_agents_with_their_weights(registered: Project) -> None:
    registered.play(stands("security", 0.1), stands("ux", 1.0), DECIDED, **REGISTRY)
    seats = ("--participant", "security", "--participant", "ux")
    told = registered.json("decide", "Do we store the link?", *seats, *WEIGHTED, exits=1)
    assert told["count"]["why"] == "the mean by weight is 0.280; it takes 0.700"  # (0.1 + 0.25) / 1.25
    asked = voices(registered)
    assert (asked["security"], asked["ux"]) == (("guard", True), ("large", True))
    [brief] = registered.briefs("participant", "contribute", participant="security")
    assert "security expert" in brief
    over = registered.json("decide", "Do we?", *seats, "--weight", "ux=1", *WEIGHTED, exits=1)
    assert over["count"]["why"].startswith("the mean by weight is 0.550")  # what the request says wins


def test_an_agent_reads_its_folder_alone(registered: Project) -> None:
    listing = {"tool_calls": [{"name": "list_files", "arguments": {}}]}
    registered.play(says("security", listing, "Seen."), **REGISTRY)
    path = registered.root.parent / "task.yaml"
    path.write_text('mode: single\ntasks:\n- {agent: security, task: "What is there?"}\n')
    told = registered.json("dispatch", str(path))
    assert told["replies"][0]["text"] == "Seen."
    listed = registered.requests[-1].messages[-1]["content"]
    assert "calc/__init__.py" in listed
    assert "AGENTS.md" not in listed


@pytest.mark.slow
def test_a_debate_a_chat_a_critique_and_an_orchestration_name_the_same_agents(registered: Project) -> None:
    reasons = [{"text": "so", "cites": []}]
    ballot = {"text": "FINAL_VERDICT:\n" + json.dumps({"verdict": "APPROVE", "confidence": 1, "reasons": reasons})}
    scores = {"text": json.dumps({"scores": {"correctness": 1, "completeness": 1, "clarity": 1}})}
    registered.play(
        rule("participant", "debate", ballot),
        rule("participant", "chat", [{"name": "synthesize", "arguments": {"summary": "So be it."}}]),
        rule("participant", "generate", {"text": "A text."}),
        rule("participant", "evaluate", scores),
        says("ux", "Nobody would find it."),
        **REGISTRY,
    )
    debate = ("Is it safe?", "--participant", "security", "--participant", "ux", "--rounds", "1", "--no-synthesis")
    assert registered.json("debate", *debate)["verdict"] == "APPROVE"
    both = {"security": ("guard", True), "ux": ("large", True)}
    assert voices(registered) == both

    registered.requests.clear()
    path = registered.root.parent / "chat.json"
    path.write_text(json.dumps({"agents": ["security", {"agent": "ux"}], "initial": {"content": "Is it safe?"}}))
    assert registered.json("chat", str(path))["summary"] == "So be it."
    assert voices(registered).items() <= both.items()

    registered.requests.clear()
    registered.json("critique", "Write it.", "--model", "ux", "--evaluator", "security")
    assert voices(registered) == {"author": ("large", True), "evaluator": ("guard", True)}

    registered.requests.clear()
    path = registered.root.parent / "steps.yaml"
    path.write_text('steps:\n- {kind: ask, id: look, agent: ux, text: "Who finds it?"}\n')
    assert registered.json("orchestrate", str(path))["steps"][0]["text"] == "Nobody would find it."
    assert voices(registered) == {"ux": ("large", True)}


@pytest.mark.slow
def test_a_discussion_names_the_same_agents(registered: Project) -> None:
    registered.play(*discussing(), **REGISTRY)
    path = registered.root.parent / "personas.toml"
    path.write_text('[[experts]]\nagent = "security"\n[[experts]]\nagent = "ux"\nname = "Ursula"\n')
    registered.swarm("discuss", "Do we store the link?", "--personas", str(path), "--mode", "lightweight", "--yes")
    assert {name: voices(registered)[name] for name in ("security", "ux")} == {
        "security": ("guard", True), "ux": ("large", True),
    }  # fmt: skip
    [record] = registered.json("discuss", "list")
    cast = Swarm(registered.root).council.discussion_record(record["id"]).cast
    experts = cast.experts if cast else ()
    assert [(each.id, each.name, each.expertise, each.folder) for each in experts] == [
        ("security", "security", "security expert", "src"), ("ux", "Ursula", "user researcher", ""),
    ]  # fmt: skip
    path.write_text('[[experts]]\nagent = "securty"\n[[experts]]\nagent = "ux"\n')
    refused = registered.swarm("discuss", "Do we?", "--personas", str(path), "--mode", "lightweight", "--yes", exits=2)
    assert f"{path}, line 2: `experts.1.agent`: there is no agent 'securty'; did you mean `security`?" in plain(
        refused.stderr
    ).replace("\n", " ")


@pytest.mark.slow
@pytest.mark.parametrize("edited", ["text", "file"])
def test_a_cast_that_waits_takes_agents_too(registered: Project, edited: str) -> None:
    registered.play(*discussing(), **REGISTRY)
    held = registered.json("discuss", "Do we store the link?", "--mode", "lightweight", exits=3)
    options = ["discuss", "resume", held["id"], "--yes"]
    text = registered.folder.discussions / held["id"] / "personas/proposed.json"
    if edited == "text":
        cast = json.loads(text.read_text("utf-8"))
        ids = [each["id"] for each in cast["experts"]]
        cast["experts"][1] |= {"agent": "uz"}
        path = text
    else:
        path = registered.root.parent / "personas.json"
        options += ["--personas", str(path)]
        cast = {"experts": [{"agent": "security"}, {"agent": "uz", "id": "operations"}]}
        ids = ["security", "operations"]
    path.write_text(json.dumps(cast), "utf-8")
    refused = plain(registered.swarm(*options, exits=2).stderr).replace("\n", " ")
    assert "`experts.2.agent`: there is no agent 'uz'" in refused
    cast["experts"][1]["agent"] = "ux"
    path.write_text(json.dumps(cast), "utf-8")
    registered.swarm(*options)
    record = Swarm(registered.root).council.discussion_record(held["id"])
    assert record.cast
    assert [(each.id, each.agent) for each in record.cast.experts] == list(zip(ids, ("security", "ux"), strict=True))
    assert {name: voices(registered)[name] for name in ids} == {ids[0]: ("guard", True), ids[1]: ("large", True)}


@pytest.mark.slow
def test_agents_are_listed_with_the_model_that_they_have(registered: Project) -> None:
    broken = {"agents__ghost": {"model_tier": "none"}}
    registered.configure(**REGISTRY, **broken)
    told = registered.swarm("agents", "list").stdout
    assert "security: security expert, local/guard, weight 1, in src\n" in told
    assert "\nux: user researcher, local/large, weight 0.25\n" in told
    assert "ghost: the model of participants, weight 1, model_tier: there is no model tier `none`" in told
    assert "opencode: " in told  # and the programs that are known
    registered.folder.config.write_text("[agents.x]\nmodle = 1\n")
    assert "unknown key `modle`" in plain(registered.swarm("agents", "list").stderr)
    registered.configure(**REGISTRY, **broken)
    own = registered.json("agents", "list")["registry"]
    assert {name: each["model"] for name, each in own.items()} == {
        "security": "local/guard", "ux": "local/large", "ghost": "",
    }  # fmt: skip


@pytest.mark.slow
def test_the_doctor_says_what_an_agent_lacks_and_in_which_line(registered: Project) -> None:
    registered.write("docs/long.md", "x" * 8_001)
    (registered.root / "docs/binary.md").write_bytes(b"\0\xff" * 9)
    registered.configure(
        agents__a={"folder": "nowhere"},
        agents__b={"system_file": "docs/none.md"},
        agents__c={"model_tier": "lagre"},
        agents__d={"model": "command:no-such-program --print"},
        agents__e={"folder": ".git"},
        agents__f={"model": "keyed/x"},
        agents__g={"system_file": "docs/long.md"},
        agents__h={"system_file": "docs/binary.md"},
        agents__good={"folder": "src", "system_file": "docs/ux.md"},
        providers__keyed={"base_url": "http://127.0.0.1:9/v1", "api_key_env": "NO_SUCH_KEY_HERE"},
    )
    found = [each for each in registered.json("doctor", exits=6)["problems"] if each["check"] == "agents"]
    lines = registered.folder.config.read_text().splitlines()
    assert [(each["message"].partition(":")[0], lines[each["line"] - 1].partition(" ")[0]) for each in found] == [
        ("a", "folder"), ("b", "system_file"), ("c", "model_tier"), ("d", "model"), ("e", "folder"), ("f", "model"),
        ("g", "system_file"), ("h", "system_file"),
    ]  # fmt: skip
    told = plain(" ".join(f"{each['message']} {each['hint']}" for each in found))
    assert "there is no folder 'nowhere' in the repository" in told
    assert "there is no file 'docs/none.md' in the repository" in told
    assert "there is no model tier `lagre`" in told
    assert "'docs/long.md' is longer than 8,000 characters" in told
    assert "`docs/binary.md` is a binary file" in told
    assert "no-such-program is not on PATH" in told
    assert "NO_SUCH_KEY_HERE is not set; keyed/x needs it" in told


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"model": "locl/x"}, "`agents.pm.model`: unknown provider `locl`; did you mean `local`?"),
        ({"modle": "local/x"}, "`agents.pm.modle`: unknown key `modle`; did you mean `model`?"),
        ({"model": "local/x", "model_tier": "y"}, "has a `model` and a `model_tier`"),
        ({"system": "x", "system_file": "y"}, "has a `system` and a `system_file`"),
        ({"folder": "../x"}, "`agents.pm.folder`: must be inside of the repository"),
        ({"weight": 2}, "`agents.pm.weight`: must be less than or equal to 1"),
    ],
)
def test_a_table_that_is_wrong_is_told_with_its_line(project: Project, table: dict[str, Any], told: str) -> None:
    project.configure(agents__pm=table)
    assert told in plain(project.swarm("chat", "list", exits=2).stderr)


def test_the_help_of_decide_says_what_it_is_in_the_document() -> None:
    assert "what ADR 0007 calls the Discussion pattern" in plain(CliRunner().invoke(app, ["decide", "--help"]).stdout)


@pytest.mark.slow
def test_the_time_of_a_whole_decision_is_bounded(project: Project) -> None:
    hangs = rule("participant", "contribute", {"fault": {"kind": "hang"}})
    project.play(hangs, DECIDED, council={"whole_s": 1})
    told = project.json("decide", "Do we do it?", "--participant", "ann", exits=1)
    assert (told["ended_by"], told["status"], told["consensus"]) == ("timeout", "paused", False)
