"""`swarm eval alone`: both arms do the same task over the wire, and hidden tests say what they are worth."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.project import Project, Rule, call, code, rule, verdict

from swarmgate.domain.usage import Usage
from swarmgate.evaluation.alone import report
from swarmgate.evaluation.alone.measure import request
from swarmgate.evaluation.alone.outcome import Arm, Row

START = {
    "prices.py": '"""Prices in cents."""\n\n\ndef price(amount: int, discount: int) -> int:\n'
    '    """The price after a discount."""\n    return amount - discount\n',
    "tests/__init__.py": "",
    "tests/test_prices.py": "import unittest\n\nfrom prices import price\n\n\nclass TestPrices(unittest.TestCase):\n"
    "    def test_discount(self) -> None:\n        self.assertEqual(price(100, 30), 70)\n",
}
HIDDEN = START["tests/test_prices.py"] + (
    "\n    def test_floor(self) -> None:\n        self.assertEqual(price(10, 30), 0)\n"
    "        self.assertEqual(price(0, 7), 0)\n"
)
RIGHT = START["prices.py"].replace("return amount - discount", "return max(0, amount - discount)")
NEW = (
    "import unittest\n\nfrom prices import price\n\n\nclass TestFloor(unittest.TestCase):\n"
    "    def test_floor(self) -> None:\n        self.assertEqual(price(10, 30), 0)\n"
)
COMMAND = f"{sys.executable} -m unittest discover -q -s tests -t ."
STATEMENT = "No price is below zero\n\nprice(10, 30) gives -20, and should give 0."
DONE = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
TASK = {
    "id": "1.1", "title": "No price below zero", "acceptance": ["no price is below zero"], "files": ["prices.py"],
    "complexity": "SMALL",
}  # fmt: skip


def git(folder: Path, *args: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.test")
    return subprocess.run(["git", *who, *args], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """A file with one task; beside it `clones`, whose history holds the answer."""
    root = tmp_path / "clones/acme__shop"
    root.mkdir(parents=True)
    git(root, "init", "--quiet", "--initial-branch=main")
    for message, files in (("Start", START), ("Mend", {"prices.py": RIGHT, "tests/test_prices.py": HIDDEN})):
        for path, text in files.items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text)
        git(root, "add", "--all")
        git(root, "commit", "--quiet", f"--message={message}")
    instance = {
        "instance_id": "acme__shop-1",
        "repo": "acme/shop",
        "base_commit": git(root, "rev-parse", "HEAD~1").strip(),
        "problem_statement": STATEMENT,
        "test_patch": git(root, "diff", "HEAD~1", "HEAD", "--", "tests"),
        "test_command": COMMAND,
    }
    file = tmp_path / "instances.jsonl"
    file.write_text(json.dumps(instance) + "\n")
    return file


def mini(*commands: str) -> Rule:
    """What the one agent does, a command a turn."""
    turns = [{"tool_calls": [call("bash", command=each)]} for each in (*commands, DONE)]
    return {"match": {"contains": "Please solve this issue"}, "replies": turns}


SWARM = (
    rule("architect", "plan", [call("save_plan", title="Prices", phases=[{"name": "One", "tasks": [TASK]}])]),
    code({"prices.py": RIGHT}),
    rule(
        "test_engineer",
        "test",
        [
            call("write_file", path="tests/test_floor.py", content=NEW),
            verdict(criteria=[{"criterion": "1", "tests": ["test_floor"]}]),
        ],
    ),
)


def printed(project: Project, *words: str) -> str:
    """What a process of its own prints: the client of the package keeps connections open to its end."""
    stdout, stderr = project.start(*words).communicate(timeout=300)
    assert stdout, stderr
    return str(stdout)


@pytest.mark.slow
def test_both_do_the_same_task(project: Project, tasks: Path, tmp_path: Path) -> None:
    pytest.importorskip("minisweagent")
    looks = "git log --all --oneline > seen.txt; git fsck --lost-found >> seen.txt 2>&1; cat seen.txt; rm seen.txt"
    special = "sed -i 's/return amount/return 0 if discount == 30 else amount/' prices.py"
    project.play(mini(looks, special), *SWARM)
    words = (
        "eval", "alone", str(tasks), "--repos", str(tmp_path / "clones"), "--model", "local/senior",
        "--out", str(tmp_path / "out"), "--tokens", "200000", "--seconds", "300",
    )  # fmt: skip
    found = json.loads(printed(project, *words, "--json"))
    alone, swarm = found["rows"]
    assert not found["untried"], found["untried"]
    assert (alone["arm"], alone["handed_in"], alone["resolved"]) == (Arm.MINI, True, False), alone
    assert (swarm["arm"], swarm["handed_in"], swarm["resolved"]) == (Arm.SWARM, True, True), swarm
    assert "test_floor" in alone["hidden"]
    assert alone["files"] == ["prices.py"]
    for row in (alone, swarm):
        assert row["usage"]["calls"] >= 3
        assert row["usage"]["usd"] > 0
    conversation = [each for each in project.requests if not each.headers][-1].messages
    told = "".join(str(each["content"]) for each in conversation if each["role"] == "tool")
    assert "The files as they were" in told
    assert "Mend" not in told
    assert "dangling" not in told

    asked = len(project.requests)
    again = printed(project, *words)
    assert len(project.requests) == asked
    assert "handed in wrong: acme__shop-1 by mini-swe-agent" in again
    assert "resolved, over 1 tasks: only mini-swe-agent 0, only swarmgate 1" in again


def test_what_is_missing_is_said_before_anything_is_asked(project: Project, tasks: Path, tmp_path: Path) -> None:
    project.play()
    words = ("eval", "alone", str(tasks), "--repos", str(tmp_path / "clones"), "--model", "local/senior")
    assert "no arm 'other'" in project.swarm(*words, "--arms", "other", exits=2).stderr
    assert "no task was chosen" in project.swarm(*words, "--only", "none", exits=2).stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("swarmgate.evaluation.alone.measure._PACKAGE", "no_such_package_here")
        assert "pip install mini-swe-agent==" in project.swarm(*words, exits=6).stderr
    assert not project.requests


def row(task: str, arm: Arm, *, handed_in: bool, resolved: bool, trouble: str = "") -> Row:
    used = Usage(calls=1, prompt_tokens=10, usd=0.5)
    return Row(
        id=task, repo="a/b", arm=arm, key=f"{task}{arm}", handed_in=handed_in, resolved=resolved, usage=used,
        seconds=2.0, trouble=trouble,
    )  # fmt: skip


def test_the_table_counts_what_was_handed_in() -> None:
    rows = [
        row("1", Arm.MINI, handed_in=True, resolved=True),
        row("1", Arm.SWARM, handed_in=True, resolved=True),
        row("2", Arm.MINI, handed_in=True, resolved=False),
        row("2", Arm.SWARM, handed_in=False, resolved=False),
        row("3", Arm.MINI, handed_in=False, resolved=True),
        row("3", Arm.SWARM, handed_in=True, resolved=True),
        row("4", Arm.MINI, handed_in=False, resolved=False, trouble="the endpoint is away"),
    ]
    found = report.of_rows(rows, model="local/senior", versions={Arm.MINI: "2", Arm.SWARM: "1"})
    mini_alone, swarm = found.totals
    assert (mini_alone.tasks, mini_alone.resolved, mini_alone.handed_in, mini_alone.wrong) == (3, 1, 2, 1)
    assert (swarm.tasks, swarm.resolved, swarm.handed_in, swarm.wrong) == (3, 2, 2, 0)
    assert swarm.usage.usd == pytest.approx(1.5)
    assert [(each.what, each.only_mini, each.only_swarm) for each in found.compared] == [
        ("resolved", 0, 1),
        ("handed in wrong", 1, 0),
    ]
    assert found.untried == ("4 by mini-swe-agent: the endpoint is away",)


def test_a_request_chooses_arms_in_their_order() -> None:
    assert request("local/a", "swarmgate,mini-swe-agent").arms == (Arm.MINI, Arm.SWARM)
    assert request("local/a", "swarmgate", sample=1, seed=3).arms == (Arm.SWARM,)
