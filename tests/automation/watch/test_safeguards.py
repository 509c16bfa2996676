"""The safeguards of automation, seen from outside: a daemon at work, its status and its events."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.domain.story import delegated, rejection, started
from tests.project import Project, until

from swarmgate.domain.events.automation import BreakerState
from swarmgate.domain.events.event import Event
from swarmgate.domain.status import WorkerStatus
from swarmgate.ledger.files import status_file
from swarmgate.ledger.ledger import Ledger

NAME = "evidence_auto_summaries"
pytestmark = [pytest.mark.slow, pytest.mark.suite("unittest")]


@pytest.fixture
def watched(project: Project) -> Iterator[Project]:
    """A project with a plan on record, in which a task is long from its second attempt on, and a daemon."""
    project.configure(automation={"long_attempts": 2, "debounce_s": 0.1, "poll_s": 0.2})
    append(project, *started(max_rejections=50))
    project.swarm("watch", "--daemon")
    yield project
    project.swarm("watch", "stop")


def append(project: Project, *events: Event) -> None:
    with Ledger.write(project.folder) as ledger:
        for event in events:
            ledger.append([event], expect=ledger.state.seq)


def rejections(project: Project, first: int, last: int) -> None:
    for number in range(first, last + 1):
        append(project, delegated("1.1", number), rejection("1.1", number))


def events(project: Project, kind: str) -> list[dict[str, object]]:
    listed = project.json("events", "--type", kind, "--last", "100")
    return [each["data"] for each in listed]


def worker(project: Project) -> WorkerStatus:
    status = status_file.read(project.folder)
    assert status is not None
    return next(each for each in status.workers if each.name == NAME)


def test_five_failures_open_the_breaker_and_three_successes_after_half_a_minute_close_it(watched: Project) -> None:
    lock = watched.folder.runtime / "context.lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()  # no summary can be written any more
    rejections(watched, 1, 3)
    until(lambda: worker(watched).state is BreakerState.OPEN, 60)
    assert worker(watched).failures == 5
    assert f"{NAME}" in watched.swarm("watch", "status").stdout
    lock.rmdir()
    rejections(watched, 4, 7)
    assert len(events(watched, "worker_failed")) == 5  # none is tried while it is open
    until(lambda: worker(watched).state is BreakerState.CLOSED and not worker(watched).pending, 90)
    changes = [(each["state"], each["reason"]) for each in events(watched, "breaker_changed")]
    assert sorted(changes) == sorted(
        [("open", "5 failures in a row"), ("half_open", "after 30 s it is tried again"), ("closed", "it works again")]
    )
    until(lambda: "### Task 1.1, goal 1" in watched.folder.context.read_text(), 30)


def test_of_the_same_trigger_ten_are_followed_in_a_minute(watched: Project) -> None:
    rejections(watched, 1, 14)
    until(lambda: bool(events(watched, "trigger_suppressed")), 60)
    until(lambda: not worker(watched).pending, 60)
    fired = [each for each in events(watched, "trigger_fired") if each["subject"] == "task 1.1"]
    assert len(fired) == 10
    (suppressed,) = events(watched, "trigger_suppressed")
    assert (suppressed["subject"], suppressed["count"], suppressed["within_s"]) == ("task 1.1", 11, 60.0)
    until(lambda: worker(watched).suppressed == ("task 1.1",), 30)


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare (util-linux) takes the file events away")
def test_a_system_without_file_events_is_polled_and_edits_are_taken_in(project: Project) -> None:
    deaf = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    away = "echo 0 > /proc/sys/user/max_inotify_instances"
    if subprocess.run([*deaf, away], check=False, capture_output=True).returncode:
        pytest.skip("no user namespaces here")
    project.configure(automation={"debounce_s": 0.1, "poll_s": 0.2})
    append(project, *started())
    process = subprocess.Popen(
        [*deaf, f'{away} && exec "$0" -m swarmgate watch', sys.executable],
        cwd=project.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    project.processes.append(process)

    def polls() -> bool:
        status = status_file.read(project.folder)
        return status is not None and status.watching == "polling"

    until(lambda: polls() or process.poll() is not None, 60)
    assert process.poll() is None, process.communicate()
    text = project.folder.plan_md.read_text()
    project.folder.plan_md.write_text(text.replace("Task 1.2: Part 1.2", "Task 1.2: Typed while nobody told"))
    until(lambda: "Typed while nobody told" in project.folder.plan_json.read_text(), 60)
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "polling: file events cannot be had: inotify instance limit reached" in told
