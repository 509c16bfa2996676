"""`swarm gates list`, `explain`, `baseline` and `doctor`, end to end."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from swarmgate.cli.app import app
from swarmgate.gates import baseline
from swarmgate.ledger.files.folder import SwarmFolder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TODO = "x = 1  # TODO: later\n"
TOKEN = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO2d4kzP"
GATES = ("--only", "placeholder_scan", "--only", "secret_scan")


@dataclass
class Place:
    root: Path
    git: Callable[..., str]

    def write(self, path: str, text: str = TODO) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def call(self, *args: str, exits: int = 0) -> str:
        done = CliRunner().invoke(app, ["gates", *args, "--repo", str(self.root)])
        assert done.exit_code == exits, done.output
        return done.output

    def json(self, *args: str, exits: int = 0) -> Any:
        return json.loads(self.call(*args, "--json", exits=exits))

    def scan(self, *, exits: int) -> dict[str, Any]:
        told = self.json("run", *GATES, exits=exits)
        (result,) = [each for each in told["results"] if each["gate"] == "placeholder_scan"]
        return {"reason": result["reason"], "findings": result["findings"], "notes": told["notes"]}


@pytest.fixture
def place(repo: Path, git: Callable[..., str]) -> Place:
    return Place(repo, git)


# --- list, explain, doctor ---


def test_the_list_says_what_is_on_and_what_it_needs(place: Place) -> None:
    place.write(".swarm/gates/mine.toml", 'title = "Mine"\ncommand = ["no-such-tool-here"]\nrequired = false\n')
    place.write(".swarm/gates/secret_scan.toml", "enabled = false\n")
    listed = {each["id"]: each for each in place.json("list")}
    assert (listed["mine"]["on"], listed["mine"]["tools"][0]["installed"]) == (True, False)
    assert (listed["secret_scan"]["on"], listed["secret_scan"]["weakened"]) == (False, ["disabled"])
    assert listed["lint_check"]["tools"][0]["version"]
    text = place.call("list")
    assert "needs no-such-tool-here" not in text
    assert "only needed where a project uses it: no-such-tool-here" in text
    assert "weakened here: disabled" in text


def test_a_folder_of_gates_alone_is_no_project(place: Place) -> None:
    place.write(".swarm/gates/baseline.json", "{}")
    assert not SwarmFolder(place.root).exists()
    assert CliRunner().invoke(app, ["status", "--repo", str(place.root)]).exit_code == 2
    assert CliRunner().invoke(app, ["init", "--repo", str(place.root)]).exit_code == 0
    assert SwarmFolder(place.root).exists()


def test_explain_and_an_unknown_rule(place: Place) -> None:
    assert "Suppress:" in place.call("explain", "F401")
    assert place.json("explain", "link-into-git")["cwe"] == "CWE-59"
    assert "Did you mean stub-body" in place.call("explain", "stub-bdy", exits=2)


@pytest.mark.slow
def test_the_doctor_names_what_is_missing(place: Place) -> None:
    assert place.json("doctor")["passed"]
    place.write(
        ".swarm/gates/mine.toml", 'title = "Mine"\ncommand = ["no-such-tool-here"]\ninstall_hint = "brew install it"\n'
    )
    told = place.json("doctor", exits=6)
    assert not told["passed"]
    assert "MISS  no-such-tool-here: not installed  -> brew install it" in place.call("doctor", exits=6)
    place.write("a.py", "x = 1\n")
    assert place.json("run", "--only", "mine", exits=6)["verdict"] == "rejected"


@pytest.mark.slow
def test_the_doctor_says_what_cannot_be_installed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    hint = "pip install no-such-package-here"
    place.write(".swarm/gates/mine.toml", f'title = "Mine"\ncommand = ["no-such-tool-here"]\ninstall_hint = "{hint}"\n')
    told = place.json("doctor", "--install", exits=6)
    assert told["installed"] == []
    assert "no-such-package-here" in told["refused"] or "shellcheck" in told["refused"]


# --- baseline ---


@pytest.mark.slow
def test_accepted_findings_are_counted_and_block_no_more(place: Place) -> None:
    place.write("a.py")
    place.scan(exits=1)
    assert "1 added" in place.call("baseline", "--reason", "known", "--expires", "30", *GATES[:2])
    assert [each["accepted"] for each in place.scan(exits=0)["findings"]] == ["known"]
    place.write("a.py", TODO + "y = 2  # TODO: more\n")
    assert "new at or above medium" in place.scan(exits=1)["reason"]
    (entry,) = place.json("baseline", "list")
    assert (entry["reason"], entry["who"], entry["path"], entry["gate"]) == (
        "known",
        "Ada Tester",
        "a.py",
        "placeholder_scan",
    )
    assert "a.py: placeholder_scan marker: known" in place.call("baseline", "list")
    told = place.json("run", *GATES, exits=1)
    assert told["verdict"] == "rejected"


@pytest.mark.slow
def test_a_new_entry_is_told_as_a_weakening(place: Place) -> None:
    place.write("a.py")
    place.call("baseline", "--reason", "known")
    assert place.scan(exits=0)["notes"] == [
        ".swarm/gates/baseline.json accepts 1 finding more than the base revision (the work tree's counts)"
    ]


@pytest.mark.slow
def test_an_expired_entry_blocks_again_and_is_told(place: Place) -> None:
    place.write("a.py")
    place.call("baseline", "--reason", "known", "--expires", "1")
    (entry,) = baseline.on_disk(place.root)
    baseline.write(place.root, [entry.model_copy(update={"expires": baseline.today() - timedelta(1)})])
    assert "1 accepted findings have expired: they count again" in place.scan(exits=1)["notes"]
    assert "EXPIRED" in place.call("baseline", "list")
    assert "0 added, 1 dropped, 0 in all" in place.call("baseline", "--prune")
    place.call("baseline", "--reason", "again")
    place.scan(exits=0)


@pytest.mark.slow
def test_pruning_drops_what_nothing_needs(place: Place) -> None:
    place.write("a.py")
    place.write("b.py")
    place.call("baseline", "--all", "--reason", "adopted")
    place.write("a.py", "x = 1\n")
    assert "0 added, 1 dropped, 1 in all" in place.call("baseline", "--prune")
    assert [each.path for each in baseline.on_disk(place.root)] == ["b.py"]


def test_more_findings_than_a_report_lists_are_accepted(place: Place) -> None:
    place.write("a.py", "".join(f"x{n} = 1  # TODO: {n}\n" for n in range(80)))
    assert "80 added" in place.call("baseline", "a.py", "--reason", "adopted", *GATES[:2])
    place.scan(exits=0)


def test_secrets_are_accepted_only_by_force_and_never_written_down(place: Place) -> None:
    place.write("a.py", f'token = "{TOKEN}"\n')
    told = place.json("baseline", "--reason", "known", *GATES[2:])
    assert (told["added"], told["secrets"]) == ([], 1)
    assert not (place.root / baseline.FILE).exists()
    place.call("baseline", "--reason", "revoked", "--force", *GATES[2:])
    text = (place.root / baseline.FILE).read_text()
    assert "secret_scan" in text
    assert TOKEN[4:12] not in text
    assert "line_hash" not in text
    place.scan(exits=0)


@pytest.mark.parametrize(
    "options", [(), ("--reason", " "), ("--reason", "x", "--expires", "soon"), ("--reason", "x", "--expires", "0"),
                ("--reason", "x", "--expires", "1999-01-01"), ("--reason", "x", "--all", "--base", "HEAD")],
)  # fmt: skip
def test_wrong_usage(place: Place, options: tuple[str, ...]) -> None:
    place.write("a.py")
    place.call("baseline", *options, exits=2)
    assert not (place.root / baseline.FILE).exists()


def test_a_broken_file_ends_the_run(place: Place) -> None:
    place.write("a.py", "x = 1\n")
    place.write(baseline.FILE, "[]")
    assert "baseline.json is not a baseline" in place.call("run", exits=2)
