"""kill -9 of runs and watchers at random moments, with edits going on: the ledger holds, and nothing typed is lost."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from pathlib import Path

import pytest
from tests.project import Project, plan, until

from swarmgate.engine import Swarm
from swarmgate.journal.lock import live_owner
from swarmgate.ledger.ledger import Ledger

pytestmark = [pytest.mark.suite("unittest"), pytest.mark.slow]

KILLS = 3
LAST = "1.9"
"""The task that is edited: its turn never comes."""


def edit(project: Project, chance: random.Random, mark: str) -> str:
    """Saves one of the files with a mark in it: a new criterion, a ticked box beside it, or what cannot be read."""
    path = chance.choice((project.folder.plan_md, project.folder.plan_json))
    try:
        text = path.read_text()
    except FileNotFoundError:
        return ""
    kind = chance.choice(("structure", "structure", "state", "nonsense"))
    if path.suffix == ".md":
        line = f"  - Accept: part {LAST} has a value\n"
        new = text.replace(line, f"{line}  - Accept: {mark}\n")
        new = new.replace(f"- [ ] Task {LAST}", f"- [x] Task {LAST}") if kind == "state" else new
        new = f"{text}\n{mark} is no line of a plan\n" if kind == "nonsense" else new
    elif not text.endswith("}\n") and not text.endswith("}"):  # an earlier one that nobody read yet
        new = f"{text}{mark}"
    else:
        data = json.loads(text)
        task = data["phases"][0]["tasks"][-1]
        task["acceptance"].append(mark)
        task["status"] = "complete" if kind == "state" else task["status"]
        new = f"{text}{mark}" if kind == "nonsense" else json.dumps(data, indent=1)
    if chance.random() < 0.5:
        path.write_text(new)
    else:
        draft = path.with_name(f"{path.name}.draft")
        draft.write_text(new)
        draft.replace(path)
    return mark


def lost(project: Project, marks: list[str]) -> list[str]:
    """The marks that stand nowhere: not in a plan that was amended, nor in a file of the quarantine."""
    plans = "".join(json.dumps(line) for line in project.lines() if line["event"]["type"] == "plan_amended")
    kept = "".join(_text(path) for path in project.quarantined())
    return [mark for mark in marks if mark not in plans and mark not in kept]


def runs(project: Project) -> int:
    return sum(line["event"]["type"] == "run_started" for line in project.lines())


def at_work(project: Project, verb: str) -> subprocess.Popen[str]:
    """A process that is at work. A run that finds an edit that cannot stand keeps it and ends: then another begins."""
    before = runs(project)
    process = project.start(verb)

    def begun() -> bool:
        nonlocal process
        if process.poll() is not None:
            process.communicate()
            process = project.start(verb)
        return runs(project) > before if verb == "run" else bool(live_owner(project.folder.watch_lock))

    until(begun)
    return process


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


@pytest.mark.parametrize("verb", ["run", "watch"])
def test_nothing_that_was_typed_is_lost_whenever_a_process_is_killed(project: Project, verb: str) -> None:
    chance = random.Random(20261122)  # noqa: S311 - moments, not keys
    project.planned(plan(*(f"1.{n}" for n in range(1, 10))), automation={"debounce_s": 0.05})
    assert project.server is not None
    project.server.latency_s = 0.1
    marks: list[str] = []
    for kill in range(KILLS):
        process = project.start(verb)
        ends = time.monotonic() + chance.uniform(0.4, 1.4)
        while time.monotonic() < ends:
            marks.append(edit(project, chance, f"EDIT-{kill}-{len(marks)}-END"))
            time.sleep(chance.uniform(0.02, 0.3))
        os.killpg(process.pid, 9)
        process.communicate()
        Ledger.read(project.folder)  # the chain holds, and what it records is legal
    process = at_work(project, verb)
    mark = edit(project, chance, "EDIT-last-END")
    until(lambda: not lost(project, [mark]))  # it is taken in while the process is at work, not when the next begins
    assert process.poll() is None
    os.killpg(process.pid, 9)
    process.communicate()
    marks.append(mark)
    Swarm(project.root).automation.sync()
    assert project.json("verify")["passed"]
    assert len([mark for mark in marks if mark]) > KILLS
    assert not lost(project, [mark for mark in marks if mark])
