"""`swarm orchestrate` as a user types it: real requests to a scripted endpoint, exit codes, resume, records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.council.debate_script import debating
from tests.council.dispatch.test_facade import DOWN, says
from tests.project import Project, plain, rule, until

from swarmgate.council.orchestration.file import read
from swarmgate.engine import Swarm
from swarmgate.ledger.ledger import Ledger

EXAMPLES = Path(__file__).parents[3] / "examples"
ANSWERS = rule("participant", "dispatch", {"text": "{{participant}} has looked."})


def write(project: Project, *steps: str, head: str = "") -> Path:
    path = project.root.parent / "pipeline.toml"
    path.write_text("\n".join([head, *(f"[[steps]]\n{step}\n" for step in steps)]))
    return path


def ask(name: str, text: str = "Look.", more: str = "") -> str:
    return f'id = "{name}"\nkind = "ask"\nparticipant = "{name}"\ntext = "{text}"\n{more}'


def asked(project: Project, name: str) -> list[str]:
    """What a voice was sent, each time."""
    return [
        "\n".join(str(message["content"]) for message in request.messages if message["role"] == "user")
        for request in project.requests
        if request.headers.get("PARTICIPANT") == name
    ]


def by_id(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {step["id"]: step for step in told["steps"]}


@pytest.mark.slow
def test_the_example_runs_every_kind_of_composition_and_is_counted_once(project: Project) -> None:
    project.play(ANSWERS, *debating(votes={"challenger": "REJECT"}))
    shown = project.swarm("orchestrate", str(EXAMPLES / "orchestration.toml"), "--dry-run").stdout
    assert "when verdict.verdict equals 'REJECT'" in shown
    assert project.requests == []

    told = project.json("orchestrate", str(EXAMPLES / "orchestration.toml"))
    steps = by_id(told)
    assert [(step["id"], step["status"]) for step in told["steps"]] == [
        ("risks", "done"), ("looks", "done"), ("verdict", "done"), ("repair", "skipped")
    ]  # fmt: skip
    assert steps["risks"]["fields"] == {"done": 3, "failed": 0, "total": 3}
    assert steps["risks"]["text"] == "editor has looked."
    assert steps["verdict"]["fields"]["verdict"] == "APPROVE", "the synthesis decides"
    assert [part["id"] for part in steps["repair"]["parts"]] == ["release"]
    # what a model said stands below the instruction, and what the user listed stands in it
    assert sorted("a full disk? Answer" in each for each in asked(project, "operator")) == [False, False, True]
    assert "## Item 2: a full disk\noperator has looked." in asked(project, "editor")[0]
    [review] = asked(project, "reviewer")
    assert "handled in the code: the output of `risks`?" in review
    assert "## The output of `risks`\neditor has looked." in review
    assert 'looks like {risk}: {"tested": true}.' in asked(project, "test_engineer")[0]
    assert "## The output of `review`\nreviewer has looked." in asked(project, "advocate")[0]

    used = sum(request.headers["ROLE"] in {"participant", "architect"} for request in project.requests)
    assert told["usage"]["calls"] == used
    assert Ledger.read(project.folder).state.usage.tokens == sum(
        told["usage"][key] for key in ("prompt_tokens", "completion_tokens")
    )
    record = project.json("orchestrate", "show", told["id"])
    assert [step["id"] for step in record["steps"]] == ["risks", "looks", "verdict", "repair"]
    assert project.json("debate", "show", f"{told['id']}.verdict")["outcome"]["verdict"] == "APPROVE"
    assert [row["status"] for row in project.json("orchestrate", "list")] == ["complete"]
    again = project.json("orchestrate", "resume", told["id"])
    assert again == told
    assert len(project.requests) == used, "what is complete asks nobody"


def test_a_python_file_describes_the_same() -> None:
    toml, python = (read(EXAMPLES / f"orchestration.{kind}") for kind in ("toml", "py"))
    assert toml == python
    assert toml.model_dump(exclude_unset=True) == python.model_dump(exclude_unset=True)


@pytest.mark.slow
def test_a_failed_step_stops_it_and_resume_pays_nothing_twice(project: Project) -> None:
    each = 'id = "all"\nkind = "map"\nitems = ["one", "two", "three"]\nleast = 3\n'
    template = '[steps.step]\nkind = "ask"\nparticipant = "p"\ntext = "Look at {item}."'
    path = write(project, ask("first"), each + template, ask("last", "Sum up {all}."))
    fails = says("p", DOWN, contains="Look at two.")
    project.play(ANSWERS, fails)
    told = project.json("orchestrate", str(path), exits=1)
    assert (told["failed"], told["failures"]) == ("all", ["all.2"])
    assert by_id(told)["all"]["why"].startswith("2/3 done: all.2: ")
    assert asked(project, "last") == []
    shown = project.swarm("orchestrate", "show", told["id"]).stdout
    assert "[failed] all.2, ask 'two'" in shown
    assert "Still to do: last" in shown
    [row] = project.json("orchestrate", "list")
    assert (row["status"], row["steps"]) == ("failed", "1/3")

    project.play(ANSWERS)
    before = len(project.requests)
    more = project.swarm("orchestrate", "resume", told["id"])
    assert "last has looked." in more.stdout
    sent = project.requests[before:]
    assert [request.headers["PARTICIPANT"] for request in sent] == ["p", "last"]
    assert "Look at two." in asked(project, "p")[-1]
    assert "## Item 1: one\np has looked." in asked(project, "last")[0]


@pytest.mark.slow
def test_exit_codes(project: Project) -> None:
    both = 'id = "both"\nkind = "parallel"\n' + "".join(
        f'[[steps.steps]]\nid = "{name}"\nkind = "ask"\nparticipant = "{name}"\ntext = "Go."\n' for name in "ab"
    )
    path = write(project, both, ask("c", more='when = { step = "both", field = "failed", at_least = 1 }'))
    project.play(ANSWERS, says("a", DOWN))
    told = project.swarm("orchestrate", str(path), exits=1)
    assert ("  1/2 done\n" in told.stdout, told.stdout.count("[failed] a, ask")) == (True, 1)
    assert "[done] c, ask" in told.stdout
    assert "step 1 of" in plain(told.stderr)
    project.play(ANSWERS, says("a", DOWN), says("b", DOWN))
    assert project.json("orchestrate", str(path), exits=5)["failed"] == "both"
    project.play(ANSWERS)
    spent = project.json("orchestrate", str(path), "--tokens", "1", exits=4)
    assert (spent["error"], "--tokens N" in spent["hint"]) == ("BUDGET", True)
    name = spent["hint"].split("resume ")[1].split()[0]
    assert project.json("orchestrate", "resume", name, "--tokens", "100000")["failed"] == ""


@pytest.mark.slow
def test_a_bound_holds_over_the_sum_of_all_steps(project: Project) -> None:
    project.play(ANSWERS)
    path = write(project, *(ask(f"v{number}") for number in range(6)))
    free = project.json("orchestrate", str(path))
    one = (free["usage"]["prompt_tokens"] + free["usage"]["completion_tokens"]) // 6
    before = len(project.requests)
    project.swarm("orchestrate", str(path), "--tokens", str(one * 3), exits=4)
    assert 2 <= len(project.requests) - before <= 4


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("nothing.toml",), "nothing.toml cannot be read"),
        (("show", "20261121-224500-3f2a"), "There is no orchestration '20261121-224500-3f2a'."),
        (("resume", "20261121-224500-3f2a"), "There is no orchestration here yet."),
        (("pipeline.toml",), "pipeline.toml, line 5: `steps.1.rounds`: must be less than or equal to 5"),
        (("raises.py",), "raises.py, line 2: ValueError: no"),
        (("pipeline.txt",), "pipeline.txt is not valid TOML"),
        (("res",), "did you mean `resume`?"),
    ],
)
def test_wrong_usage_is_exit_code_2(
    project: Project, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], told: str
) -> None:
    project.play()
    path = write(project, 'id = "d"\nkind = "debate"\nrounds = 6\nquestion = "Is it?"')
    path.with_name("raises.py").write_text('"""Steps."""\nraise ValueError("no")\n')
    path.with_name("pipeline.txt").write_text("no toml")
    monkeypatch.chdir(path.parent)
    assert told in project.swarm("orchestrate", *args, exits=2).stderr
    assert project.requests == []


def test_a_debate_that_failed_goes_on_where_it_was(project: Project) -> None:
    """The debate's first round is on record: it is not asked again."""
    project.play(*debating(), rule("participant", "debate", DOWN, round="2"))
    path = write(project, 'id = "d"\nkind = "debate"\nquestion = "Is it?"')
    told = project.json("orchestrate", str(path), exits=5)
    first = len(asked(project, "advocate"))
    project.play(*debating())
    again = project.json("orchestrate", "resume", told["id"])
    assert by_id(again)["d"]["fields"]["verdict"] == "APPROVE"
    rounds = [request.headers["ROUND"] for request in project.requests if request.headers["ROLE"] == "participant"]
    assert rounds.count("1") == 2
    assert len(asked(project, "advocate")) > first
    assert Swarm(project.root).council.orchestration_record(told["id"]).status == "complete"


@pytest.mark.slow
def test_after_kill_9_only_what_was_in_flight_is_asked_again(project: Project) -> None:
    project.play(ANSWERS, says("b", {"fault": {"kind": "hang"}}))
    process = project.start("orchestrate", str(write(project, ask("a"), ask("b"))))
    until(lambda: len(project.requests) == 2)
    process.kill()
    process.communicate()
    [row] = project.json("orchestrate", "list")
    assert (row["status"], row["steps"]) == ("open", "1/2")
    project.play(ANSWERS)
    assert project.json("orchestrate", "resume", row["id"])["failed"] == ""
    assert [request.headers["PARTICIPANT"] for request in project.requests] == ["a", "b", "b"]


def test_json_of_a_dry_run_is_the_description(project: Project) -> None:
    project.play()
    path = write(project, ask("a"), head='title = "T"')
    told = json.loads(project.swarm("orchestrate", str(path), "--dry-run", "--json").stdout)
    assert told == {"title": "T", "steps": [{"kind": "ask", "id": "a", "participant": "a", "text": "Look."}]}
    two = 'id = "d"\nkind = "debate"\nquestion = "Is it?"\nparticipants = ["x", "y"]'
    path = write(project, two, head="tokens = 5")
    shown = project.swarm("orchestrate", str(path), "--dry-run", "--tokens", "9000", "--usd", "0.5").stdout
    assert "All of it may use 9,000 tokens and $0.5." in shown
    assert "participants.2.id = y" in shown
    assert "model" not in shown
    assert "--usd is inf" in project.swarm("orchestrate", str(path), "--dry-run", "--usd", "inf", exits=2).stderr
    path = path.with_suffix(".py")
    path.write_text(
        'from swarmgate.council.orchestration import sequence, step\nprint("told")\n'
        'orchestration = sequence(step("ask", "a", participant="p", text="Go."))\n'
    )
    done = project.swarm("orchestrate", str(path), "--dry-run", "--json")
    assert (json.loads(done.stdout)["steps"][0]["id"], "told" in done.stderr) == ("a", True)
