"""`swarm events` as a user types it."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue

import pytest
from tests.project import Project, until

from swarmgate.automation.events.listing import describe_event, in_full
from swarmgate.domain.events.automation import AUTOMATION_EVENTS, Happening, HookRan, TriggerFired
from swarmgate.domain.events.event import (
    DebateKept,
    Event,
    GoalSet,
    PhaseEstimated,
    RunStarted,
    TreeRestored,
    TurnEnded,
    UsageRecorded,
)
from swarmgate.domain.guard import Turn
from swarmgate.domain.usage import Usage
from swarmgate.engine.swarm import Swarm
from swarmgate.ledger.files.automation_log import AutomationLog
from swarmgate.ledger.ledger import Ledger

FIRED = TriggerFired(capability="hooks", subject="goal_set")


def at(second: int) -> datetime:
    return datetime(2026, 11, 22, 1, 0, second, tzinfo=UTC)


def record(project: Project, event: Event, second: int | None = None) -> None:
    with Ledger.write(project.folder, clock=lambda: at(second) if second is not None else datetime.now(UTC)) as ledger:
        ledger.append([event], expect=ledger.state.seq, actor="user")


def tell(project: Project, second: int) -> None:
    AutomationLog(project.folder, clock=lambda: at(second)).append(FIRED, actor="hooks")


def places(found: list[dict[str, object]]) -> list[str]:
    return [f"{str(each['source'])[0]}{each['seq']}" for each in found]


def test_events_of_both_are_merged_by_time(project: Project) -> None:
    project.folder.ledger.unlink()
    shutil.rmtree(project.root / ".git/swarm", ignore_errors=True)  # else the ledger counts as rolled back
    for second, goal in ((1, "one"), (5, "two"), (3, "clock set back"), (9, "three")):
        record(project, GoalSet(goal=goal), second)
    for second in (1, 4, 5, 6, 2, 9):
        tell(project, second)
    found = project.json("events")
    assert [each for each in places(found) if each[0] == "l"] == ["l1", "l2", "l3", "l4"]
    assert [each for each in places(found) if each[0] == "a"] == [f"a{n}" for n in range(1, 7)]
    assert places(found) == ["l1", "a1", "a2", "l2", "l3", "a3", "a4", "a5", "l4", "a6"]
    assert Happening.model_validate(found[0]).data == {"type": "goal_set", "goal": "one", "spec": "", "source": ""}
    assert project.json("events", "--last", "2") == found[-2:]
    assert project.json("events", "--last", "0") == []
    assert project.swarm("events", "--last", "0").stdout == ""
    assert places(project.json("events", "--type", "trigger_fired", "--last", "1")) == ["a6"]
    both = project.json("events", "--type", "trigger_fired", "--type", "goal_set")
    assert both == found
    lines = project.swarm("events").stdout.splitlines()
    assert " ".join(lines[0].split()) == "2026-11-22 01:00:01.000 ledger user goal_set goal: one"
    assert lines[1].endswith("  trigger_fired             hooks starts on goal_set")


def test_there_may_be_none(project: Project) -> None:
    assert project.swarm("events", "--type", "hook_ran").stdout == "No event of type hook_ran is on record.\n"
    assert project.json("events", "--type", "hook_ran") == []


def test_an_unknown_type_is_refused_with_the_nearest(project: Project) -> None:
    told = project.swarm("events", "--type", "task_complete", exits=2).stderr
    assert "there is no event of type 'task_complete'" in told
    assert "Did you mean task_completed?" in told
    assert "Did you mean hook_ran?" in project.swarm("events", "--follow", "--type", "hookran", exits=2).stderr
    assert project.json("events", "--type", "zzz", exits=2)["error"] == "USAGE"
    assert "the value is empty" in project.swarm("events", "--type", "", exits=2).stderr


def test_what_steers_a_terminal_is_shown_as_text(project: Project) -> None:
    AutomationLog(project.folder).append(HookRan(event="x", exit_code=None, problem="\u202eno\u009b2J"), actor="hooks")
    told = project.swarm("events", "--type", "hook_ran").stdout
    assert "hook on x: \ufffdno\ufffd2J" in told
    assert "\u202e" not in project.swarm("events", "--json").stdout


def test_unreadable_lines_are_named_and_left_out(project: Project) -> None:
    project.folder.automation_log.write_bytes(b"\xff\x00 no line\n")
    tell(project, 1)
    result = project.swarm("events", "--type", "trigger_fired")
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr.startswith("swarm: 1 line of ")
    result = project.swarm("events", "--json")
    assert json.loads(result.stderr)["kind"] == "notice"
    assert isinstance(json.loads(result.stdout), list)


def test_a_broken_ledger_ends_it_without_a_traceback(project: Project) -> None:
    project.folder.ledger.write_bytes(b"no\n")
    assert project.json("events", exits=1)["error"] == "LEDGER_CORRUPT"


def test_an_event_of_tomorrow_is_shown_without_words(project: Project) -> None:
    line = {"source": "automation", "seq": 1, "time": "2026-11-22T01:00:00.000Z", "actor": "a"}
    project.folder.automation_log.write_text(json.dumps(line | {"data": {"type": "of_tomorrow"}}) + "\n")
    assert project.swarm("events").stdout.splitlines()[0].endswith("  a                 of_tomorrow")


def test_what_is_bookkeeping_has_no_words() -> None:
    run = RunStarted(pid=1, host="here").model_dump(mode="json")
    assert describe_event(Happening(source="ledger", seq=1, time="t", actor="a", data=run)) == ""


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (RunStarted(pid=1, host="here"), "a run begins in pid 1 on here"),
        (TreeRestored(tree="t"), "the files are as the last step left them"),
        (PhaseEstimated(phase=2, tasks=1), "phase 2: no task before it to estimate by"),
        (
            UsageRecorded(role="coder", task="1.1", usage=Usage(calls=2, prompt_tokens=1500, usd=0.25)),
            "coder at task 1.1 used 1,500 tokens in 2 calls, $0.2500",
        ),
        (
            UsageRecorded(role="swarmgate", usage=Usage(seconds=2.5)),
            "swarmgate: 2.5 s of work beside model calls",
        ),
        (
            TurnEnded(
                task="1.1", turn=Turn(role="coder", step="code", calls=3, tool_calls=1, seconds=4, tripped="loop")
            ),
            "coder at task 1.1: turn of 3 calls and 1 tool call, 4.0 s, ended by loop",
        ),
        (DebateKept(task="1.1", debate="d1", part="round 1", sha256="0" * 64), "d1 at task 1.1: round 1 kept"),
        (GoalSet(goal="one"), "goal: one"),
    ],
)
def test_every_row_has_words(event: Event, told: str) -> None:
    data = event.model_dump(mode="json")
    assert in_full(Happening(source="ledger", seq=1, time="t", actor="a", data=data)) == told


def test_the_page_of_events_names_every_type() -> None:
    page = (Path(__file__).parents[3] / "docs/events.md").read_text("utf-8")
    rows = page.partition("\n## Automation's events\n")[2].partition("\n## ")[0].splitlines()
    cells = [row.split("|")[1].strip().strip("`") for row in rows if row.startswith("| ")]
    assert cells[1:] == list(AUTOMATION_EVENTS)


# --- following ---


class Followed:
    """A process that follows, and its lines with the time of their arrival."""

    def __init__(self, project: Project, *args: str) -> None:
        self.process = project.start("events", "--follow", *args)
        self.lines: Queue[tuple[float, str]] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put((time.monotonic(), line))

    def next(self) -> tuple[float, str]:
        return self.lines.get(timeout=20)

    def interrupted(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)


@pytest.mark.slow
def test_new_events_are_shown_soon_and_once(project: Project) -> None:
    tell(project, 1)
    followed = Followed(project, "--json", "--last", "1")
    assert json.loads(followed.next()[1])["seq"] >= 1
    waits = []
    for number in range(2, 5):
        began = time.monotonic()
        tell(project, number)
        came, line = followed.next()
        waits.append(came - began)
        assert (json.loads(line)["source"], json.loads(line)["seq"]) == ("automation", number)
    assert min(waits) < 0.5
    began = time.monotonic()
    record(project, GoalSet(goal="one"))
    came, line = followed.next()
    assert json.loads(line)["data"]["goal"] == "one"
    assert followed.interrupted() == 130
    assert followed.lines.empty()
    assert followed.process.stderr
    assert followed.process.stderr.read() == ""


@pytest.mark.slow
def test_a_filter_holds_for_new_ones_too(project: Project) -> None:
    followed = Followed(project, "--type", "goal_set", "--type", "hook_ran")
    time.sleep(0.5)
    tell(project, 1)
    record(project, GoalSet(goal="one"))
    assert "goal: one" in followed.next()[1]
    assert followed.interrupted() == 130


@pytest.mark.slow
def test_a_reader_that_goes_away_ends_it(project: Project) -> None:
    process = project.start("events", "--follow")
    assert process.stdout
    process.stdout.readline()
    process.stdout.close()

    def ended() -> bool:
        tell(project, 1)
        return process.poll() is not None

    until(ended)
    assert process.returncode == 0
    assert process.stderr
    assert process.stderr.read() == ""


def test_a_ledger_in_trouble_is_told_and_followed_again(project: Project) -> None:
    project.silence()
    told: list[str] = []
    swarm = Swarm(project.root, listener=lambda progress: told.append(progress.text))
    found = swarm.automation.events(follow=True, last=0)
    whole = project.folder.ledger.read_bytes()
    project.folder.ledger.write_bytes(whole[100:])
    got: list[str] = []
    thread = threading.Thread(target=lambda: got.append(next(found).type), daemon=True)
    thread.start()
    until(lambda: told)
    assert "line 1" in told[0]
    project.folder.ledger.write_bytes(whole)
    record(project, GoalSet(goal="one"))
    thread.join(10)
    assert got == ["goal_set"]
    assert len(told) == 1


@pytest.mark.slow
@pytest.mark.parametrize("flag", ["--follow", "-f"])
def test_following_begins_with_what_is_there(project: Project, flag: str) -> None:
    process = project.start("events", flag)
    assert isinstance(process, subprocess.Popen)
    assert process.stdout
    assert "project_initialised" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
