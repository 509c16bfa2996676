"""Tests people who take part in `swarm decide`: asked at the terminal, answered by a verb, waited for."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.council.test_decide import FACILITATES, YES, says, the_id
from tests.project import Project, plain

from swarmgate.cli.council.decide_interactive import AskedAtTerminal
from swarmgate.council.decision.model import DecisionRecord
from swarmgate.council.decision.user_choices import PersonalVote
from swarmgate.engine import Swarm
from swarmgate.errors import CouncilRefused, WaitingForUser

NO = says({"agreement": 0.1, "stand": "disagree"})


def recorded(project: Project) -> DecisionRecord:
    return Swarm(project.root).council.decision_record(the_id(project))


def test_a_decision_waits_for_a_person_and_goes_on_with_the_answer(project: Project) -> None:
    project.play(NO, FACILITATES)
    question = ("decide", "Do we do it?", "--human", "ada", "--participant", "bob", "--strategy", "facilitator")
    waits = project.swarm(*question, "--facilitator", "ada", exits=3)
    name = the_id(project)
    assert f"Decision {name} waits for ada in round 1; all voices have spoken." in plain(waits.stderr)
    assert f"swarm decide answer {name} --as ada --stand agree" in plain(waits.stderr)
    assert "the decision is over" not in waits.stderr
    assert project.json("decide", "list")[0]["status"] == "paused"
    shown = project.swarm("decide", "show", name).stdout
    assert "WAITING  (0 rounds; paused because somebody is waited for)" in shown
    assert f"Why: it waits for ada: swarm decide answer {name} --as ada --stand STAND" in shown
    for args, why in (
        ((), "No stand is given. -> --stand agree --level 0.8"),
        (("--stand", "yes"), "'yes' is no stand: it is agree, disagree, abstain."),
        (("--level", "0.9"), "No stand is given."),
        (("--stand", "agree", "--level", "9"), "The level is 9: it is a number from 0 to 1."),
        (("--stand", "agree", "--level", "nan"), "The level is nan: it is a number from 0 to 1."),
        (("--stand", "agree", "--option", "A"), "a stand is asked for, and no option"),
    ):
        told = plain(project.swarm("decide", "answer", name, *args, exits=2).stderr)
        assert why in told
        assert "JSON" not in told  # which nobody types
    asked = len(project.requests)
    project.swarm("decide", "resume", name, exits=3)
    assert len(project.requests) == asked  # bob has spoken, and is not asked again
    told = project.json("decide", "answer", name, "--stand", "Agree", "--level", "0.9", "--reason", "I pay for it.")
    assert (told["consensus"], told["count"]["why"]) == (True, "ada decides: agree")
    [bob, ada] = sorted(told["stands"], key=lambda each: each["participant"] == "ada")
    assert (ada["stand"], ada["agreement"], bob["stand"]) == ("agree", 0.9, "disagree")
    [synthesis] = project.briefs("participant", "facilitate")
    assert "I pay for it." in synthesis
    assert {each.headers["PARTICIPANT"] for each in project.requests} == {"bob", "facilitator"}
    assert "I pay for it." in project.swarm("decide", "show", name).stdout


@pytest.mark.slow
def test_a_person_has_a_ballot_and_is_asked_in_each_round(project: Project, tmp_path: Path) -> None:
    ballots = [says({"ranking": [name]}, participant=who) for who, name in (("bob", "SQLite"), ("cy", "Postgres"))]
    project.play(*ballots, FACILITATES)
    path = tmp_path / "store.yaml"
    path.write_text(
        "question: Which store?\nstrategy: ranked\nrounds: 2\noptions: [SQLite, Postgres, Redis]\n"
        "participants:\n- {id: ada, human: true}\n- {id: bob}\n- {id: cy}\n- {id: dee, human: true}\n"
    )
    waits = plain(project.swarm("decide", str(path), exits=3).stderr)
    assert "of: A. SQLite, B. Postgres, C. Redis; or --stand abstain" in waits
    name = the_id(project)
    for args, why in (
        (("--option", "C"), "waits for ada, dee: say who you are"),
        (("--as", "bob", "--option", "C"), "does not wait for bob. -> It waits for ada, dee."),
        (("--as", "ada", "--option", "MySQL"), '"MySQL" is none of the options'),
        (("--as", "ada", "--stand", "agree"), "By ranked options are voted on"),
        (("--as", "ada"), "No option is given."),  # which is not the same as a vote for none
    ):
        assert why in plain(project.swarm("decide", "answer", name, *args, exits=2).stderr)
    assert "waits for dee" in plain(
        project.swarm("decide", "answer", name, "--as", "ada", "--option", "C", exits=3).stderr
    )
    again = project.swarm("decide", "answer", name, "--as", "ada", "--option", "A", exits=2)
    assert "does not wait for ada" in plain(again.stderr)
    assert "waits for ada in round 2" in plain(
        project.swarm("decide", "answer", name, "--stand", "abstain", exits=3).stderr
    )
    assert [each.ranking for each in recorded(project).rounds[0].contributions] == [
        ("Redis",),
        ("SQLite",),
        ("Postgres",),
        (),
    ]
    project.swarm("decide", "answer", name, "--as", "ada", "--option", "SQLite", "--option", "Redis", exits=3)
    told = project.json("decide", "answer", name, "--option", "a")
    assert (told["consensus"], told["choice"], told["rounds"]) == (True, "SQLite", 2)
    over = project.swarm("decide", "answer", name, "--option", "a", exits=2)
    assert "does not wait for a person" in plain(over.stderr)


def typing(*lines: str | None) -> tuple[AskedAtTerminal, list[str]]:
    """A person who types these lines, one a question; what was shown and asked."""
    left, shown = list(lines), list[str]()

    async def ask(question: str) -> str | None:
        shown.append(question)
        return left.pop(0)

    asking: Callable[[str], Awaitable[str | None]] = ask
    return AskedAtTerminal(ask=asking, say=shown.append), shown


async def decided(project: Project, people: AskedAtTerminal, **more: Any) -> Any:
    project.play(YES, FACILITATES)
    council = Swarm(project.root).council
    return await council.decide("Do we do it?", participants=["bob"], humans=["ada"], people=people, **more)


async def test_a_person_at_the_terminal_is_shown_the_proposal_and_asked_until_it_is_a_stand(project: Project) -> None:
    people, shown = typing("no", "d", "0.9", "Why not?", "d", "", "Too dear.", "a", "x", "a", "", "So be it.")
    outcome = await decided(project, people, strategy="unanimous", rounds=2)
    assert outcome.consensus
    rounds = recorded(project).rounds
    assert [[each.agreement for each in held.contributions] for held in rounds] == [[0.8, 0.0], [0.8, 1.0]]
    told = "\n".join(shown)
    assert "no is none of these: a, d, b" in told
    assert '`stand` is "disagree" and `agreement` is 0.9: that is a contradiction' in told
    assert "'x' is no number." in told
    assert told.index("Too dear.") > told.index("Why? (Enter: nothing)")  # the round before is shown in the next one
    assert "We do it." in told


async def test_a_person_votes_by_letters_and_may_go_on_later(project: Project) -> None:
    people, shown = typing("/pause")
    votes = {"strategy": "approval", "options": ["SQLite", "Postgres"]}
    with pytest.raises(WaitingForUser, match="waits for ada in round 1"):
        await decided(project, people, **votes)
    assert "A. SQLite" in shown
    people, _ = typing("A, C", None, "b, a", "Both hold.")
    council = Swarm(project.root).council
    with pytest.raises(WaitingForUser):
        await council.resume_decision(the_id(project), people=people)
    assert recorded(project).status == "paused"


@pytest.mark.slow
async def test_when_its_time_is_up_a_decision_waits_for_the_person_and_has_no_outcome(project: Project) -> None:
    class Thinking:
        async def vote(self, *_: Any) -> Any:
            await asyncio.Event().wait()

    project.play(YES, FACILITATES, council={"whole_s": 1})
    council = Swarm(project.root).council
    with pytest.raises(WaitingForUser, match="is up, and it waits for ada"):
        await council.decide("Do we?", participants=["bob"], humans=["ada"], people=Thinking())
    name = the_id(project)
    shown = project.swarm("decide", "show", name).stdout
    assert "WAITING  (0 rounds; paused because somebody is waited for)" in shown
    assert f"the time of the whole decision was up; it waits for ada: swarm decide answer {name}" in shown
    assert (await council.answer_decision(name, PersonalVote(stand="agree"))).consensus


@pytest.mark.parametrize("more", [{"model": "local/x"}, {"critique": 2}, {"system": "You are Ada."}])
async def test_a_person_has_no_model(project: Project, more: dict[str, Any]) -> None:
    project.configure()
    council = Swarm(project.root).council
    with pytest.raises(CouncilRefused, match=r"`participants\.1` is `human`"):
        await council.decide("Do we?", participants=[{"id": "ada", "human": True, **more}, "bob"])


@pytest.mark.slow
def test_an_orchestration_waits_for_the_person_of_its_decision(project: Project, tmp_path: Path) -> None:
    project.play(YES, FACILITATES)
    path = tmp_path / "steps.yaml"
    path.write_text(
        "id: release\nsteps:\n- kind: decide\n  id: go\n  question: Do we release?\n"
        "  participants: [bob, {id: ada, human: true}]\n"
    )
    waits = plain(project.swarm("orchestrate", str(path), exits=3).stderr)
    assert "Decision release.go waits for ada in round 1" in waits
    told = project.swarm("decide", "answer", "release.go", "--stand", "agree").stdout
    assert told.endswith("What it is a part of goes on with: swarm orchestrate resume release\n")
    told = project.json("orchestrate", "resume", "release")
    assert told["steps"][0]["fields"]["consensus"] is True


@pytest.mark.slow
def test_at_a_real_terminal_the_person_is_asked_when_everybody_else_has_spoken(project: Project) -> None:
    project.play(YES, FACILITATES)
    leader, follower = os.openpty()
    options = ["--human", "ada", "--participant", "bob", "--rounds", "1"]
    command = [sys.executable, "-m", "swarmgate", "decide", "Do we?", *options]
    process = subprocess.Popen(
        command, cwd=project.root, stdin=follower, stdout=subprocess.PIPE, stderr=follower, text=True
    )
    project.processes.append(process)
    os.close(follower)
    shown = ""
    for question, line in (("a[b]stain, or /pause?", "d"), ("0 to 1?", "0.2"), ("Why?", "Too dear.")):
        while question not in shown:
            shown += os.read(leader, 4096).decode("utf-8", "replace")
        os.write(leader, f"{line}\n".encode())
        shown = ""
    stdout, _ = process.communicate(timeout=60)
    os.close(leader)
    assert process.returncode == 1
    assert "- ada: disagrees, 0.20" in stdout
    assert "- bob: agrees, 0.80" in stdout
