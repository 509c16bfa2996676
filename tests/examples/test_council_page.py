"""docs/council.md is so: its files are held, its bounds are those of the code, its refusals happen."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.project import Project, Rule, call, rule

from swarmgate.council.chat import model as chat
from swarmgate.council.chat.state import PLACES
from swarmgate.council.dispatch import model as dispatch
from swarmgate.domain.review import votes
from swarmgate.domain.task import debate_rules
from swarmgate.evaluation.debate import decision, experiment_arms

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/council.md"
TEXT = PAGE.read_text("utf-8")
FILES = {
    name: text
    for text in re.findall(r"^```toml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    for name in [text.split()[1]]
}
BALLOT = {"verdict": "REJECT", "confidence": 0.8, "reasons": [{"text": "It breaks.", "cites": ["r1-msg-001"]}]}

VOICES: tuple[Rule, ...] = (
    rule("participant", "dispatch", {"text": "Seen by {{participant}}."}),
    rule(
        "participant", "debate", {"text": '{"claims": [{"text": "{{participant}} sees a risk", "stance": "against"}]}'}
    ),
    *(
        rule("participant", "debate", {"text": f"I say so.\nFINAL_VERDICT: {json.dumps(BALLOT)}"}, round=number)
        for number in ("2", "3")
    ),
    rule("participant", "moderate", {"text": '{"order": ["operator"]}'}),
    rule("architect", "synthesize", {"text": json.dumps({**BALLOT, "summary": "Not like this.", "dissent": []})}),
    rule("participant", "chat", {"tool_calls": [{"name": "synthesize", "arguments": {"summary": "The vacuum job."}}]}),
)


@pytest.fixture
def council(project: Project) -> Project:
    """A project in which every file of the page can be held."""
    project.write("docs/design.md", "Sessions live in memory.\n")
    project.play(*VOICES)
    return project


def held(council: Project, name: str, *options: str, exits: int = 0) -> Any:
    path = council.write(name, FILES[name])
    verb = {"tasks": "dispatch", "debate": "debate", "chat": "chat"}[re.split(r"[-.]", name)[0]]
    return council.json(verb, str(path), *options, exits=exits)


# --- the files of the page ---


def test_every_file_of_the_page_is_held_here() -> None:
    own = {name for name in FILES if not name.startswith(".swarm/")}
    assert own == {"tasks-parallel.toml", "tasks-chain.toml", "tasks-debate.toml", "debate.toml", "chat.toml"}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["parallel", "chain"])
def test_the_dispatches_of_the_page(council: Project, mode: str) -> None:
    told = held(council, f"tasks-{mode}.toml")
    assert (told["mode"], told["summary"]) == (mode, "3/3 succeeded")
    assert [reply["text"] for reply in told["replies"]] == [f"Seen by {reply['name']}." for reply in told["replies"]]


def test_the_output_before_is_material_and_stands_in_place_of_previous(council: Project) -> None:
    held(council, "tasks-chain.toml")
    first, second, third = council.briefs("participant", "dispatch")
    assert "## The output before yours" not in first
    assert "Seen by architect." in second.partition("## The task")[2]
    assert "Seen by critic." in third.partition("## The task")[0]
    assert "Seen by critic." not in third.partition("## The task")[2]


def test_the_debate_among_tasks_of_the_page(council: Project) -> None:
    told = held(council, "tasks-debate.toml", exits=1)
    assert told["outcome"]["verdict"] == "REJECT"
    briefs = council.briefs("participant", "debate", round="1")
    assert any("Argue from the outage of last week" in brief for brief in briefs)
    assert all("Should the session cache move to Redis?" in brief for brief in briefs)


def test_the_debate_of_the_page(council: Project) -> None:
    told = held(council, "debate.toml", exits=1)
    assert (told["verdict"], told["decided_by"]) == ("REJECT", "synthesis")
    assert council.briefs("participant", "moderate"), "the chair was asked"
    (brief,) = council.briefs("participant", "debate", participant="operator", round="1")
    assert "You carry the pager" in brief
    assert "Release 41 renames the column" in brief
    kept = council.folder.discussions / told["id"]
    assert {path.name for path in kept.iterdir()} == {"journal.jsonl", "result.json"}


def test_options_win_over_the_file(council: Project) -> None:
    told = held(council, "debate.toml", "--rounds", "2", "--no-synthesis", exits=1)
    assert (told["decided_by"], told["rounds"]) == ("majority", 2)
    assert not council.briefs("architect", "synthesize")


def test_the_chat_of_the_page(council: Project) -> None:
    found = call("send_message", to="lead", content="VACUUM runs at 02:00 UTC.")
    council.play(
        *VOICES,
        rule("participant", "chat", [found], {"text": "Sent."}, participant="database"),
        rule("participant", "chat", {"text": "Nothing."}, participant="network"),
    )
    told = held(council, "chat.toml")
    assert (told["end"], told["by"], told["summary"]) == ("synthesis", "lead", "The vacuum job.")
    refused = council.json("chat", "resume", told["id"], exits=2)
    assert refused["error"] == "ARCHIVED"


@pytest.mark.parametrize("verb", ["debate", "dispatch", "chat"])
def test_the_command_lines_of_lists(council: Project, verb: str) -> None:
    assert f"swarm {verb} list" in TEXT
    council.swarm(verb, "list")


# --- bounds ---


def test_the_bounds_of_the_page_are_those_of_the_code() -> None:
    said = {
        f"| `parallel` | 1 to {dispatch.MOST_TASKS} |",
        f"| `debate` | {votes.LEAST_SEATS} to {votes.MOST_SEATS} |",
        f"the change has {debate_rules.LARGE_LINES} lines or more",
        f"from {debate_rules.LARGE_PLAN} tasks on",
        f"below {decision.LEAST_LIFT * 100:.0f} points means `defer debate`",
        f"With fewer than {decision.LEAST_ITEMS} items",
        f"rounds 0 or {votes.MOST_ROUNDS + 1}",
        f"an agent named `{chat.ALL}`",
    }
    assert {each for each in said if each not in TEXT} == set()
    words = {4: "four at a time"}
    assert TEXT.count(words[dispatch.AT_ONCE]) == 2
    assert PLACES == dispatch.AT_ONCE
    assert {f"`{arm}`" for arm in experiment_arms.Arm} <= set(re.findall(r"^\| (`\w+`) \|", TEXT, re.MULTILINE))


def test_files_on_record_have_the_names_of_the_page(council: Project) -> None:
    told = held(council, "debate.toml", exits=1)
    named = re.findall(r"^\| `(discussions/ID/\S+?|traces/council/debate-ID/)`", TEXT, re.MULTILINE)
    assert len(named) == 3
    for name in named:
        path = council.folder.path / name.replace("ID", told["id"])
        assert path.exists(), path


# --- bad input ---


def tasks(mode: str, *texts: str, **keys: Any) -> str:
    head = "".join(f"{key} = {json.dumps(value)}\n" for key, value in {"mode": mode, **keys}.items())
    return head + "".join(
        f'[[tasks]]\nparticipant = "p{at}"\ntext = {json.dumps(text)}\n' for at, text in enumerate(texts)
    )


def seats(*ids: str, **keys: Any) -> str:
    head = "".join(f"{key} = {json.dumps(value)}\n" for key, value in {"question": "Well?", **keys}.items())
    return head + "".join(f'[[participants]]\nid = "{name}"\n' for name in ids)


def agents(*ids: str, **keys: Any) -> str:
    head = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    return head + "".join(f'[[agents]]\nid = "{name}"\n' for name in ids) + '[initial]\ncontent = "Hello."\n'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "text", "named"),
    [
        ("debate", seats("a", "b", rounds=0), "rounds"),
        ("debate", seats("a", "b", rounds=6), "rounds"),
        ("dispatch", tasks("parallel", "x", "y", rounds=2), "rounds"),
        ("debate", seats("a"), "participants"),
        ("debate", seats(*"abcdefghi"), "participants"),
        ("debate", seats("a", "a"), "'a'"),
        ("debate", seats("a", "b", question=""), "question"),
        ("debate", seats("a", "b", questions="Well?"), "question"),
        ("dispatch", tasks("paralel", "x"), "parallel"),
        ("dispatch", tasks("single", "x").replace("participant", "role"), "p0"),
        ("dispatch", tasks("chain", "After {previous}"), "{previous}"),
        ("dispatch", tasks("single", "x") + 'folder = "../up"\n', "folder"),
        ("chat", agents("a", "b", ttl_s=0), "ttl_s"),
        ("chat", agents("a", "all"), "all"),
        ("chat", agents("a", "b").replace("content", 'to = "c"\ncontent'), "'c'"),
    ],
)
def test_what_the_page_calls_bad_input_is_refused_before_anybody_is_asked(
    council: Project, verb: str, text: str, named: str
) -> None:
    refused = council.json(verb, str(council.write("bad.toml", text)), exits=2)
    assert refused["error"] == "COUNCIL"
    assert named in refused["message"]
    assert council.requests == []


def test_failures_have_the_exit_codes_of_the_page(council: Project) -> None:
    council.play(rule("participant", "debate", {"text": "no vote"}))
    assert council.json("debate", "Well?", "--rounds", "1", exits=5)["error"] == "COUNCIL_FAILED"
    council.play(*VOICES, council={"total_tokens": 1})
    spent = council.json("debate", "Well?", exits=4)
    assert spent["error"] == "BUDGET"
    assert "swarm debate resume" in spent["hint"]
    council.requests.clear()
    unknown = council.json("debate", "Well?", "--participant", "a=nobody/x", "--participant", "b", exits=2)
    assert unknown["error"] == "CONFIG"
    assert council.requests == []


# --- the programs beside it ---


@pytest.mark.slow
def test_the_example_program_works() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples/council.py"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("parallel: 2/2 succeeded\n")
    assert "debate: REJECT after 2 rounds, by synthesis\n  r1-msg-001 advocate: " in done.stdout
    assert done.stdout.endswith("chat: synthesis by lead after 2 messages: Write through: it costs 2 ms.\n")
