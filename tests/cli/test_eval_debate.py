"""`swarm eval debate` end to end: a real project, a real endpoint whose voices have a known accuracy."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.evaluation.debate.simulated import JudgesServer, ballot, items, judges
from tests.project import Project, plain, until
from typer.testing import CliRunner

from swarmgate.cli.app import app
from swarmgate.ledger.councils import debate_worth

ALL = 13
"""Calls of an item: 6 of the debate, 6 ballots, 1 single."""


@pytest.fixture
def server() -> Iterator[JudgesServer]:
    with JudgesServer(judges(0.5, 1.0)) as playing:
        yield playing


@pytest.fixture
def fixtures(tmp_path: Path) -> Path:
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(item.model_dump_json() for item in items(6)))
    return path


@pytest.fixture
def measured(project: Project, server: JudgesServer) -> Project:
    project.server = server
    project.configure()
    return project


def verb(fixtures: Path, *more: str) -> tuple[str, ...]:
    return ("eval", "debate", "--fixtures", str(fixtures), "--models", "local/senior,local/junior", *more)


def worth(project: Project) -> Any:
    return debate_worth.read(project.folder)


@pytest.mark.slow
def test_a_measurement_is_shown_filed_and_decides(measured: Project, server: JudgesServer, fixtures: Path) -> None:
    done = measured.swarm(*verb(fixtures, "--repeats", "1", "--write-decision"))
    assert "6 judgements by each arm, about 78 calls at the most" in plain(done.stderr)
    said = plain(done.stdout)
    assert "good items approved (true-negative rate)" in said
    assert "debate against parallel, equal calls: lift +" in said
    assert "debate against single, NOT at equal calls" in said
    assert "Decision: use debate (NOT SURE)" in said
    assert "warning: 1 repeats are no multiple of the 2 models" in said
    assert len(server.requests) == 6 * ALL
    in_debates = [each for each in server.requests if not str(each.headers["PARTICIPANT"]).startswith("reviewer")]
    assert len(in_debates) == 6 * 6
    assert all(not each.tools for each in server.requests)
    # Of each label's three items two deal senior first, which is then two seats of three; in both arms, for two rounds.
    assert [each.model for each in server.requests].count("senior") == 2 * 2 * (4 * 2 + 2 * 1) + 4
    (out,) = (measured.folder.runtime / "eval").iterdir()
    assert {path.name for path in out.iterdir()} == {"report.html", "report.json", "report.png"}
    found = worth(measured)
    assert (found.decision, found.items, found.models) == ("use", 6, ("local/senior", "local/junior"))
    assert found.interval[0] <= found.lift <= found.interval[1]
    assert found.lift >= 10


@pytest.mark.slow
def test_a_second_run_asks_nothing_and_json_is_complete(
    measured: Project, server: JudgesServer, fixtures: Path, tmp_path: Path
) -> None:
    first = measured.json(*verb(fixtures, "--repeats", "1", "--no-decision"))
    asked = len(server.requests)
    again = measured.json(*verb(fixtures, "--repeats", "1", "--no-decision", "--out", str(tmp_path / "out")))
    assert len(server.requests) == asked
    assert (first["asked"], again["asked"]) == (asked, 0)
    assert again["judgements"] == first["judgements"]
    assert again["arms"] == first["arms"]
    assert json.loads((tmp_path / "out/report.json").read_text()) == again
    assert {each["arm"] for each in again["arms"]} == {"single", "parallel", "debate"}
    assert again["arms"][0]["usage"]["usd"] > 0
    assert worth(measured) is None
    assert again["undecided"] == "--no-decision was given"
    other = measured.json(*verb(fixtures, "--repeats", "1", "--seed", "7", "--no-decision"))
    assert other["asked"] == asked, "another seed is another sample"
    assert len(again["judgements"]) == 18


@pytest.mark.slow
def test_an_empty_budget_ends_with_exit_code_4_and_it_goes_on_from_there(
    measured: Project, server: JudgesServer, fixtures: Path
) -> None:
    two = ("--repeats", "2")
    # Four items are judged at once and take some 10,000 tokens each: less than five of them could end with none done.
    partial = measured.json(*verb(fixtures, *two, "--budget-tokens", "70000"), exits=4)
    assert 0 < partial["done"] < partial["planned"] == 12
    assert "70,000 tokens" in partial["partial"]
    assert partial["decision"] is None
    assert worth(measured) is None
    asked = len(server.requests)
    assert partial["asked"] == asked, "what was paid for is kept"
    whole = measured.json(*verb(fixtures, *two))
    assert whole["asked"] == 12 * ALL - asked
    assert whole["partial"] == ""
    assert "NOT SURE" in whole["undecided"]
    assert worth(measured) is None, "six items cannot tell"


@pytest.mark.slow
def test_dollars_are_no_budget_where_a_price_is_unknown(measured: Project, fixtures: Path) -> None:
    done = measured.swarm(*verb(fixtures, "--budget-usd", "0"), exits=4)
    assert "PARTIAL: 0 of 24" in done.stdout, "6 items, 4 repeats: at least 3, and a multiple of the models"
    where = ("eval", "debate", "--fixtures", str(fixtures), "--models", "local/free")
    done = measured.swarm(*where, "--budget-usd", "1", exits=2)
    assert "the price of local/free is unknown" in plain(done.stderr)


WITHOUT = """
import sys
from importlib.abc import MetaPathFinder

class Absence(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == PACKAGE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

PACKAGE = sys.argv.pop(1)
sys.meta_path.insert(0, Absence())
from swarmgate.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("package", ["scipy", "matplotlib"])
def test_without_the_extra_it_says_what_to_install_and_asks_nothing(
    measured: Project, server: JudgesServer, fixtures: Path, package: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, package, *verb(fixtures, "--json")],
        cwd=measured.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 6, done.stderr
    error = json.loads(done.stdout)
    assert (error["error"], error["exit_code"]) == ("MISSING_REQUIREMENT", 6)
    assert f"No module named '{package}" in error["message"]
    assert error["hint"].startswith("pip install scipy matplotlib")
    assert server.requests == []


@pytest.mark.slow
def test_killed_it_goes_on_without_asking_twice(measured: Project, server: JudgesServer, fixtures: Path) -> None:
    server.latency_s = 0.05
    process = measured.start(*verb(fixtures, "--repeats", "2"))
    until(lambda: len(server.requests) >= 40, 60)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(0.3)  # what was on its way arrives
    before = len(server.requests)
    server.latency_s = 0.0
    found = measured.json(*verb(fixtures, "--repeats", "2"))
    # Only calls that were on their way are asked again: of four items at once, six voices each at the most.
    assert 12 * ALL - before <= found["asked"] <= 12 * ALL - before + 24
    assert found["done"] == 12


@pytest.mark.slow
def test_ballots_that_cannot_be_read_are_reported(measured: Project, fixtures: Path) -> None:
    def speak(headers: Any, _brief: str) -> str:
        return "Fine." if headers["PARTICIPANT"] == "reviewer-1" else ballot("APPROVE")

    with JudgesServer(speak) as server:
        measured.server = server
        measured.configure()
        found = measured.json(*verb(fixtures, "--repeats", "1", "--no-decision"))
    unread = {each["arm"]: each["unread"] for each in found["arms"]}
    assert unread == {"single": 6, "parallel": 6, "debate": 0}


@pytest.mark.slow
def test_an_endpoint_that_is_down_is_exit_code_5(measured: Project, fixtures: Path) -> None:
    measured.silence()
    measured.configure(providers__local={"max_retries": 0})
    found = measured.json(*verb(fixtures), exits=5)
    assert found["decision"] is None
    assert "failed for good" in found["partial"]


@pytest.mark.slow
def test_fewer_arms_compare_what_there_is(measured: Project, server: JudgesServer, fixtures: Path) -> None:
    found = measured.json(*verb(fixtures, "--repeats", "1", "--arms", "debate,single", "--limit", "4"))
    assert [each["second"] for each in found["comparisons"]] == ["single"]
    assert len(server.requests) == 4 * 7
    assert found["decision"] is None
    assert "one of them was not asked for" in found["undecided"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--models", "senior"), "'senior' is no model"),
        (("--models", "local/a,local/a"), "names 'local/a' twice"),
        (("--models", "nowhere/a"), "unknown provider `nowhere`"),
        (("--models", "command:claude/x"), "agent programs cannot be measured"),
        (("--arms", "debate,duel"), "there is no arm 'duel'"),
        (("--models", " "), "the value is empty"),
        (("--fixtures", "nothing.jsonl"), "nothing.jsonl: cannot be read"),
        (("--rounds", "6"), "less than or equal to 5"),
        (("--participants", "1"), "greater than or equal to 2"),
    ],
)
def test_wrong_use_is_told(measured: Project, fixtures: Path, more: tuple[str, ...], told: str) -> None:
    done = measured.swarm(*verb(fixtures, *more), exits=2)
    assert told in plain(done.stderr).replace("│ ", "")


def test_outside_of_a_project_the_users_settings_hold_and_nothing_is_decided(
    server: JudgesServer, fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "swarmgate/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'[providers.local]\nbase_url = "{server.base_url}"\n')
    done = CliRunner().invoke(app, [*verb(fixtures, "--repeats", "1", "--limit", "2"), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert "this is no project" in found["undecided"]
    assert found["places"]["html"].startswith(os.environ["XDG_CACHE_HOME"])
    own.unlink()
    done = CliRunner().invoke(app, list(verb(fixtures)))
    assert done.exit_code == 2
    assert "unknown provider `local`" in done.stderr
    done = CliRunner().invoke(app, [*verb(fixtures), "--repo", str(tmp_path)])
    assert done.exit_code == 2
    assert "not inside a git repository" in done.stderr
