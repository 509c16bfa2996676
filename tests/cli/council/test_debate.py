"""Tests `swarm debate`."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.council.debate_script import debating, synthesis
from tests.project import Project, event_lines, plain, rule, until

from swarmgate.council.debate.model import DebateRecord
from swarmgate.domain.events.event import UsageRecorded
from swarmgate.engine import Swarm


def asked(project: Project) -> int:
    return len(project.requests)


def the_id(project: Project) -> str:
    (found,) = Swarm(project.root).council.ids()
    return found


def test_the_exit_code_is_the_verdict_and_stdout_says_why(project: Project) -> None:
    project.play(*debating())
    approved = project.swarm("debate", "Is it sound?")
    assert approved.stdout.splitlines()[:4] == [
        "APPROVE  (decided by the architect's synthesis; 2 approve, 0 reject, 0 abstain, 0 failed)",
        "  weighed",
        "Reasons:",
        "  - so [r1-msg-001]",
    ]
    assert f"All of it: swarm debate show {the_id(project)}" in approved.stdout
    assert "round 1 of at most 2" in approved.stderr
    assert "round 2, advocate votes APPROVE (80% sure)" in plain(approved.stderr)
    project.play(*debating(votes={"advocate": "REJECT", "challenger": "REJECT"}), synthesis("REJECT", "r2-msg-002"))
    assert project.swarm("debate", "Is it sound?", exits=1).stdout.startswith("REJECT")


def test_every_option_reaches_the_debate(project: Project) -> None:
    project.play(
        *debating(last=3, votes={"bob": "REJECT"}),
        rule("participant", "moderate", {"text": '{"order": ["bob", "ann"]}'}),
    )
    options = ["--participant", "ann=local/one", "--participant", "bob", "--rounds", "3", "--moderator", "chair"]
    more = ["--file", "AGENTS.md", "--order", "fixed", "--no-synthesis", "--tokens", "90000", "--usd", "2"]
    told = project.json("debate", "Is it sound?", *options, *more, exits=1)
    assert (told["verdict"], told["decided_by"], told["tally"]["reject"]) == ("REJECT", "majority", 1)
    assert told["reasons"] == [
        "bob: bob says REJECT [r1-msg-001]",
        "approve does not outnumber reject and failed: 1 approve, 1 reject, 0 abstain, 0 failed",
    ]
    assert told["dissent"] == ["ann: ann says APPROVE [r1-msg-001]"]
    debate = Swarm(project.root).council.record(told["id"]).debate
    assert [(seat.id, seat.model) for seat in debate.seats] == [("ann", "local/one"), ("bob", "")]
    assert (debate.rounds, debate.order, debate.parent) == (3, "fixed", False)
    assert debate.moderator is not None
    assert debate.moderator.id == "chair"
    assert "HOUSE-RULE" in debate.material
    begun = json.loads((project.folder.discussions / told["id"] / "journal.jsonl").read_text().splitlines()[0])
    allowance = begun["event"]["allowance"]
    assert (allowance["usd"], allowance["tokens"]) == (2.0, 90_000)


def test_the_default_voices_are_told_which_side_they_take(project: Project) -> None:
    project.play(*debating())
    project.swarm("debate", "Is it sound?")
    seats = Swarm(project.root).council.record(the_id(project)).debate.seats
    assert [seat.id for seat in seats] == ["advocate", "challenger"]
    assert ("Argue for it" in seats[0].brief, "Argue against it" in seats[1].brief) == (True, True)


def test_a_question_that_is_the_name_of_a_verb_follows_hold(project: Project) -> None:
    project.play(*debating())
    project.swarm("debate", "hold", "list")
    assert Swarm(project.root).council.record(the_id(project)).debate.question == "list"
    before = asked(project)
    listed = project.swarm("debate", "--json", "list").stdout
    (row,) = json.loads(listed)
    assert (row["id"], row["status"], row["question"]) == (the_id(project), "APPROVE", "list")
    assert asked(project) == before


def test_progress_is_json_lines_in_json_mode(project: Project) -> None:
    project.play(*debating())
    done = project.swarm("debate", "Is it sound?", "--json")
    assert [line["kind"] for line in event_lines(done.stderr)][:2] == ["step", "event"]


# --- a file ---

FILE = """# all of it
question = "Is it sound?"
rounds = 2
files = ["AGENTS.md"]
synthesis = false
id = "from-a-file"

[moderator]
id = "chair"

[[participants]]
id = "ann"
brief = "Argue for it."

[[participants]]
id = "bob"
model = "local/junior"
"""


def test_a_file_describes_all_of_it_and_options_win(project: Project, tmp_path: Path) -> None:
    project.play(*debating(last=1), rule("participant", "moderate", {"text": "{}"}))
    path = tmp_path / "debate.toml"
    path.write_text(FILE)
    told = project.json("debate", str(path), "--rounds", "1")
    assert (told["id"], told["rounds"], told["decided_by"]) == ("from-a-file", 1, "majority")
    assert {request.body["model"] for request in project.requests} == {"senior", "junior"}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("rounds = 2", "rounds = 0", "line 3: `rounds`: must be greater than or equal to 1"),
        ("rounds = 2", "rounds = 6", "line 3: `rounds`: must be less than or equal to 5"),
        ("rounds = 2", 'rounds = "2"', "line 3: `rounds`: must be a valid integer"),
        ("rounds = 2", "rouns = 2", "line 3: `rouns`: unknown key `rouns`; did you mean `rounds`?"),
        ('id = "bob"', 'id = "ann"', "line 16: `participants.2.id`: there is another participant 'ann'"),
        ("model =", "modle =", "line 17: `participants.2.modle`: unknown key `modle`; did you mean `model`?"),
        ('id = "bob"', 'id = "b b"', "line 16: `participants.2.id`"),
        ('id = "bob"\n', "", "line 15: `participants.2`: the key `id` is missing"),
        ('question = "Is it sound?"', "", "the key `question` is missing"),
        ('[[participants]]\nid = "bob"\nmodel = "local/junior"', "", "`participants`: there are 1"),
        ('id = "chair"', "", "line 8: `moderator`: the key `id` is missing"),
        ("rounds = 2", "rounds = = 2", "is not valid TOML"),
    ],
)
def test_a_mistake_in_a_file_is_named_with_line_and_key(
    project: Project, tmp_path: Path, old: str, new: str, told: str
) -> None:
    project.play(*debating())
    path = tmp_path / "debate.toml"
    assert old in FILE
    path.write_text(FILE.replace(old, new))
    said = project.swarm("debate", str(path), exits=2).stderr
    assert str(path) in said
    assert told in said
    assert asked(project) == 0


def test_a_file_that_is_not_there_or_no_text(project: Project, tmp_path: Path) -> None:
    project.play(*debating())
    assert "cannot be read: No such file" in project.swarm("debate", "nowhere.toml", exits=2).stderr
    (tmp_path / "x.toml").write_bytes(b"\xff")
    assert "not UTF-8" in project.swarm("debate", str(tmp_path / "x.toml"), exits=2).stderr
    assert "not a regular file" in project.swarm("debate", str(_folder(tmp_path)), exits=2).stderr


def _folder(tmp_path: Path) -> Path:
    (tmp_path / "folder.toml").mkdir()
    return tmp_path / "folder.toml"


# --- showing, listing, resuming ---


def test_show_replays_it_as_text_json_and_a_page(project: Project, tmp_path: Path) -> None:
    project.play(*debating())
    project.swarm("debate", "Is it sound? <b>")
    page = tmp_path / "debate.html"
    shown = project.swarm("debate", "show", the_id(project), "--html", str(page))
    assert "Round 2, the vote" in shown.stdout
    assert "r1-msg-002-c1 [for, " in shown.stdout
    assert "Is it sound? &lt;b&gt;" in page.read_text()
    record = DebateRecord.model_validate(project.json("debate", "show", the_id(project)))
    assert record == Swarm(project.root).council.record(the_id(project))


@pytest.mark.slow
def test_the_list_names_every_state(project: Project) -> None:
    assert "There is no debate here yet" in project.swarm("debate", "list").stdout
    project.play(*debating())
    for name in ("done", "open", "damaged"):
        Swarm(project.root)
        project.swarm("debate", str(_described(project, name)))
    place = project.folder.discussions / "open" / "journal.jsonl"
    place.write_bytes(b"".join(place.read_bytes().splitlines(keepends=True)[:-2]))
    (project.folder.discussions / "damaged" / "journal.jsonl").write_text("{\n")
    states = {row["id"]: row["status"] for row in project.json("debate", "list")}
    assert states == {"done": "APPROVE", "open": "open", "damaged": "damaged"}
    assert "journal.jsonl" in project.swarm("debate", "show", "damaged", exits=2).stderr
    before = asked(project)
    project.swarm("debate", "resume", "open")
    assert asked(project) == before + 1  # the synthesis alone


def _described(project: Project, name: str) -> Path:
    path = project.root.parent / f"{name}.toml"
    path.write_text(f'question = "Well?"\nid = "{name}"\n')
    return path


@pytest.mark.parametrize("verb", ["show", "resume"])
def test_an_id_that_is_not_there_names_the_nearest_and_tricks_are_refused(project: Project, verb: str) -> None:
    project.play(*debating())
    project.swarm("debate", str(_described(project, "mine-1")))
    assert "Did you mean mine-1?" in project.swarm("debate", verb, "mine-2", exits=2).stderr
    for trick in ("../mine-1", "/etc/passwd", "mine-1/../mine-1"):
        assert "is no id of a debate" in project.swarm("debate", verb, trick, exits=2).stderr


# --- exit codes ---


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--rounds", "0"], "`rounds` is 0"),
        (["--rounds", "6"], "`rounds` is 6"),
        (["--participant", "a"], "1 participant"),
        (["--participant", "a", "--participant", "a"], "a twice"),
        (["--participant", "a", "--participant", "b=nobody/x"], "unknown provider `nobody`"),
        (["--file", "nowhere.py"], "nowhere.py"),
        (["--file", "../x"], "leaves the repository"),
        (["--diff", "nowhere"], "no revision `nowhere`"),
        (["--order", "random"], "`order`"),
        (["--tokens", "0"], "--tokens"),
        (["--participant", ""], "the value is empty"),
    ],
)
def test_bad_input_is_2_and_asks_nobody(project: Project, options: list[str], told: str) -> None:
    project.play(*debating())
    assert told in plain(project.swarm("debate", "Is it sound?", *options, exits=2).stderr)
    assert asked(project) == 0


def test_without_any_model_it_says_what_to_set(project: Project) -> None:
    project.folder.config.write_text("")
    told = project.swarm("debate", "Is it sound?", exits=2).stderr
    assert "no model is set for the role `participant`" in told
    assert "[roles.default]" in told


def test_exit_codes_4_5_and_6(project: Project) -> None:
    project.play(*debating())
    told = project.swarm("debate", "Is it sound?", "--tokens", "1500", exits=4).stderr
    assert f"swarm debate resume {the_id(project)}" in told
    project.play(*debating(), rule("participant", "debate", {"text": "Well."}, round="2"))
    assert "failed" in project.swarm("debate", "Is it sound?", exits=5).stderr
    project.play(*debating(), rule("architect", "synthesize", {"text": "Well."}))
    assert project.json("debate", "Is it sound?", exits=5)["error"] == "COUNCIL_FAILED"
    project.configure(providers__local={"api_key_env": "NOT_SET"})
    assert "NOT_SET" in project.swarm("debate", "Is it sound?", exits=6).stderr


# --- processes ---


def usage_on_record(project: Project) -> int:
    """Calls of debates that the ledger counts."""
    return sum(each.usage.calls for each in project.events(UsageRecorded) if each.source)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_is_130_and_it_goes_on_after_the_last_whole_round(project: Project, number: signal.Signals) -> None:
    project.play(*debating(), rule("participant", "debate", {"fault": {"kind": "hang"}}, round="2"))
    process = project.start("debate", "Is it sound?")
    until(lambda: any("compared" in each.read_text() for each in project.folder.discussions.glob("*/journal.jsonl")))
    until(lambda: asked(project) == 4)
    process.send_signal(number)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 130
    assert f"Go on with: swarm debate resume {the_id(project)}" in told
    assert usage_on_record(project) == 2
    project.play(*debating())
    project.swarm("debate", "resume", the_id(project))
    assert usage_on_record(project) == 5


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_with_every_round_once(project: Project) -> None:
    chance = random.Random(5)  # noqa: S311 - moments, not keys
    seats = [word for n in range(4) for word in ("--participant", f"v{n}")]
    project.play(*debating(last=3))
    began = time.monotonic()
    whole = project.start("debate", "Well?", *seats, "--rounds", "3", "--json")
    reference = json.loads(whole.communicate(timeout=60)[0])
    length = time.monotonic() - began
    command = ["debate", "Well?", *seats, "--rounds", "3"]
    for _ in range(3):
        _killed_once(project, command, chance.uniform(0, length / 3), reference["tally"])


def _killed_once(project: Project, command: list[str], moment: float, tally: dict[str, int]) -> None:
    """Kills it so many seconds after it is on record, and resumes it."""
    known, counted = set(Swarm(project.root).council.ids()), usage_on_record(project)
    process = project.start(*command)
    until(lambda: set(Swarm(project.root).council.ids()) - known, seconds=60)
    try:
        process.communicate(timeout=moment)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    begun = set(Swarm(project.root).council.ids()) - known
    (debate,) = begun
    end = json.loads(project.swarm("debate", "resume", debate, "--json").stdout)
    assert end["tally"] == tally
    record = Swarm(project.root).council.record(debate)
    named = [speech.id for held in record.rounds for speech in held.speeches]
    assert named == [f"r{n}-msg-{seat:03d}" for n in (1, 2, 3) for seat in (1, 2, 3, 4)]
    kept = list((project.folder.traces / "council" / f"debate-{debate}").glob("*.json"))
    replies = [path for path in kept if re.search(r'^ "reply"', path.read_text(), re.MULTILINE)]
    assert usage_on_record(project) - counted == len(replies) >= 13
