"""`swarm demo --debate`: a debate from the command line, with a real project, a real endpoint and a real record."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from swarmgate import assets
from swarmgate.cli.app import app
from swarmgate.engine.demo import debate

TOKENS = ("prompt_tokens", "completion_tokens")


def demo(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "swarmgate", "demo", "--debate", *args],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "project"


@pytest.fixture(scope="module")
def done(place: Path) -> subprocess.CompletedProcess[str]:
    return demo("--yes", "--dir", str(place))


def replayed(place: Path, debate: str, *options: str) -> str:
    shown = CliRunner().invoke(app, ["debate", "show", debate, *options, "--repo", str(place)])
    assert shown.exit_code == 0, shown.stderr
    return shown.stdout


def record(place: Path) -> dict[str, Any]:
    (debate,) = (place / ".swarm/discussions").iterdir()
    told: dict[str, Any] = json.loads(replayed(place, debate.name, "--json"))
    return told


@pytest.mark.slow
def test_it_ends_well_though_the_design_is_rejected(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    assert "REJECT  (decided by the architect's synthesis; 1 approve, 2 reject, 0 abstain, 0 failed)" in done.stdout


@pytest.mark.slow
def test_the_page_of_the_council_shows_what_it_prints(done: subprocess.CompletedProcess[str]) -> None:
    page = (Path(__file__).parents[3] / "docs/council.md").read_text("utf-8")
    shown = done.stdout.strip().partition("\n2 rounds; ")[0]
    assert f"```text\n{shown}\n```" in page


def test_the_second_round_of_a_voice_takes_more_as_the_page_says(
    done: subprocess.CompletedProcess[str], place: Path
) -> None:
    assert done.returncode == 0
    first, second = (sum(each["speeches"][0]["usage"][key] for key in TOKENS) for each in record(place)["rounds"])
    assert 1.15 < second / first < 1.6, "about a third more"


def test_rounds_are_told_as_they_go(done: subprocess.CompletedProcess[str]) -> None:
    told = done.stderr
    marks = ["round 1 of at most 2", "round 1, challenger spoke (2 claims)", "round 1 is over", "the vote"]
    marks += ["round 2, challenger votes REJECT (85% sure)", "the synthesis: REJECT"]
    places = [told.index(mark) for mark in marks]
    assert places == sorted(places)
    assert debate.QUESTION in told


def test_reasons_and_dissent_cite_messages_that_exist(done: subprocess.CompletedProcess[str], place: Path) -> None:
    kept = record(place)
    ids = {speech["id"] for each in kept["rounds"] for speech in each["speeches"]}
    for part in ("Reasons:", "Dissent:"):
        under = done.stdout.partition(part)[2].partition(":\n" if part == "Reasons:" else "\n2 rounds")[0]
        cited = re.findall(r"r\d-msg-\d+", under)
        assert cited, part
        assert set(cited) <= ids
    synthesis = kept["outcome"]["synthesis"]
    assert {"r1-msg-002", "r2-msg-002"} <= {cite for each in synthesis["reasons"] for cite in each["cites"]}
    assert [reason["unresolved"] for reason in (*synthesis["reasons"], *synthesis["dissent"])] == [[]] * 3


def test_the_command_that_it_names_replays_it(done: subprocess.CompletedProcess[str], place: Path) -> None:
    (line,) = re.findall(r"^  (swarm debate show (\S+))$", done.stdout, re.MULTILINE)
    text = replayed(place, line[1])
    assert "raises ValueError; the design answers 500 then" in text
    assert "Debate transcript" not in text
    page = place / "page.html"
    replayed(place, line[1], "--html", str(page))
    assert "<html" in page.read_text("utf-8")


def test_voices_heard_each_other_in_the_second_round_alone(done: subprocess.CompletedProcess[str], place: Path) -> None:
    assert done.returncode == 0
    first, second = record(place)["rounds"]
    assert (first["final"], second["final"]) == (False, True)
    assert [speech["seat"] for speech in first["speeches"]] == ["advocate", "challenger", "operator"]
    assert {speech["model"] for speech in first["speeches"]} == {"demo/senior", "demo/junior"}
    assert all(reason["cites"] for speech in second["speeches"] for reason in speech["ballot"]["reasons"])
    assert len(first["novelty"]) == 6


@pytest.mark.slow
def test_it_takes_less_than_five_seconds_and_speaks_json(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    again = demo("--json", "--dir", str(tmp_path / "project"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert worked < 5, "seconds of work, its server's and git's included: the suite may run beside others"
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    assert (told["verdict"], told["decided_by"], told["rounds"]) == ("REJECT", "synthesis", 2)
    assert told["project"] == str((tmp_path / "project").resolve())
    assert len(told["reasons"]) == 2
    assert len(told["dissent"]) == 1


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    refused = CliRunner().invoke(app, ["demo", "--debate", "--dir", str(tmp_path)])
    assert refused.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_script_gives_no_verdict_before_the_last_round() -> None:
    rules = yaml.safe_load((assets.demo() / debate.SCRIPT).read_text("utf-8"))["rules"]
    for rule in rules:
        says = any("FINAL_VERDICT" in reply.get("text", "") for reply in rule["replies"])
        assert says == (rule["match"].get("round") == "2" or rule["match"]["role"] == "architect")
