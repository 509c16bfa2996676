"""`swarm watch` as the shell sees it: real processes, signals, a daemon, kill -9."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.domain.story import started
from tests.project import until
from typer.testing import CliRunner, Result

from swarmgate.automation.watch.watcher import Watcher
from swarmgate.cli.app import app
from swarmgate.config import Automation
from swarmgate.domain.status import StatusFile
from swarmgate.journal.lock import WriterLock, live_owner, read_owner
from swarmgate.ledger.files import status_file
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

_STARTED: list[subprocess.Popen[str]] = []

SETTINGS = "[automation]\ndebounce_s = 0.1\npoll_s = 0.2\n"


@pytest.fixture
def folder(repo: Path) -> Iterator[SwarmFolder]:
    """A project with a plan; whoever watches it at the end of the test is ended."""
    made = SwarmFolder(repo)
    made.create()
    made.config.write_text(SETTINGS)
    with Ledger.write(made) as ledger:
        for event in started():
            ledger.append([event], expect=ledger.state.seq)
    yield made
    for process in _STARTED:
        process.kill()
        process.communicate()
    _STARTED.clear()
    owner = live_owner(made.watch_lock)
    if owner and owner["pid"] != os.getpid():
        os.kill(int(str(owner["pid"])), signal.SIGKILL)


def swarm(folder: SwarmFolder, *args: str) -> Result:
    return CliRunner().invoke(app, [*args, "--repo", str(folder.root)])


class Watch:
    """`swarm watch` in a process of its own."""

    def __init__(self, folder: SwarmFolder, *args: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "swarmgate", "watch", *args],
            cwd=folder.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        _STARTED.append(self.process)
        until(lambda: (file := status_file.read(folder)) and file.pid == self.process.pid, 20)

    def end(self, number: signal.Signals) -> tuple[int, str, str, float]:
        """Exit code, stdout, stderr and seconds."""
        began = time.monotonic()
        self.process.send_signal(number)
        out, told = self.process.communicate(timeout=60)
        return self.process.returncode, out, told, time.monotonic() - began


def taken_away(place: Path) -> None:
    """Removes a folder into which somebody writes: by its name first, so that it is gone at once, as by `mv`."""
    aside = place.with_name("taken-away")
    place.rename(aside)

    def removed() -> bool:
        shutil.rmtree(aside, ignore_errors=True)
        return not aside.exists()

    until(removed, 30)


def status(folder: SwarmFolder) -> StatusFile:
    found = status_file.read(folder)
    assert found is not None
    return found


def edited(folder: SwarmFolder, title: str) -> None:
    """Gives task 1.2 another title, as an editor does."""
    data = json.loads(folder.plan_json.read_text())
    data["phases"][0]["tasks"][1]["title"] = title
    new = folder.path / "plan.json.new"
    new.write_text(json.dumps(data))
    new.rename(folder.plan_json)


def title(folder: SwarmFolder) -> str:
    plan = Ledger.read(folder).state.plan
    assert plan is not None
    return plan.tasks["1.2"].title


# --- in the foreground ---


@pytest.mark.slow
def test_it_takes_an_edit_in_says_what_happens_and_ends_on_sigterm(folder: SwarmFolder) -> None:
    watch = Watch(folder)
    edited(folder, "Another title")
    until(lambda: "Another title" in folder.plan_md.read_text(), 30)
    assert title(folder) == "Another title"
    until(lambda: any(each.type == "plan_synced" for each in status(folder).last_events), 30)
    code, out, told, seconds = watch.end(signal.SIGTERM)
    assert (code, out) == (0, "Watching ended.\n")
    assert "watching began in pid" in told
    assert "plan amended by hand in plan.json" in told
    assert seconds < 20
    assert status(folder).watching == "stopped"


@pytest.mark.slow
def test_ctrl_c_is_130(folder: SwarmFolder) -> None:
    code, out, told, seconds = Watch(folder).end(signal.SIGINT)
    assert (code, out) == (130, "")
    assert "Watching ended, as asked." in told
    assert "Traceback" not in told
    assert seconds < 20


@pytest.mark.slow
def test_json_is_on_stdout_and_events_are_json_lines_on_stderr(folder: SwarmFolder) -> None:
    code, out, told, _ = Watch(folder, "--json").end(signal.SIGTERM)
    assert code == 0
    assert json.loads(out)["watching"] is False
    assert all(json.loads(line)["kind"] in {"event", "notice"} for line in told.splitlines())


@pytest.mark.slow
def test_nothing_switched_on_is_said(folder: SwarmFolder) -> None:
    folder.config.write_text(
        SETTINGS + "[automation.capabilities]\nplan_sync = false\nevidence_auto_summaries = false\n"
    )
    watch = Watch(folder)
    folder.config.write_text(SETTINGS)
    until(lambda: status(folder).workers[0].on, 30)
    _, _, told, _ = watch.end(signal.SIGTERM)
    assert "nothing is switched on" in told
    assert "the settings changed; on now: plan_sync" in told


@pytest.mark.slow
def test_a_refused_edit_is_restored_kept_and_told(folder: SwarmFolder) -> None:
    watch = Watch(folder)
    before = folder.plan_md.read_text()
    folder.plan_md.write_text(before.replace("- [ ] Task 1.1", "- [x] Task 1.1"))
    until(lambda: "- [x] Task 1.1" not in folder.plan_md.read_text() and folder.quarantine.exists(), 30)
    _, _, told, _ = watch.end(signal.SIGTERM)
    assert told.count("Task 1.1") + told.count("task 1.1") == told.count("plan.md line")  # each problem once
    assert told.count("plan.md line") == 1
    assert told.count(".swarm/quarantine/") == 1
    assert "mend it there and copy it back, or edit plan.md again" in told


@pytest.mark.slow
def test_a_deleted_plan_comes_back_and_so_does_a_deleted_project(folder: SwarmFolder, tmp_path: Path) -> None:
    watch = Watch(folder)
    folder.plan_md.unlink()
    until(folder.plan_md.exists, 30)
    shutil.copytree(folder.path, tmp_path / "copy")
    taken_away(folder.path)
    time.sleep(0.6)
    assert not folder.path.exists()
    shutil.copytree(tmp_path / "copy", folder.path)
    until(lambda: live_owner(folder.watch_lock), 30)
    edited(folder, "After all")
    until(lambda: folder.plan_md.exists() and "After all" in folder.plan_md.read_text(), 30)
    code, _, told, _ = watch.end(signal.SIGTERM)
    assert (code, told.count("is gone"), told.count("is back")) == (0, 1, 1)


@pytest.mark.slow
def test_an_edit_during_another_command_waits_and_is_taken_in_after_it(folder: SwarmFolder) -> None:
    watch = Watch(folder)
    with WriterLock(folder.lock):
        edited(folder, "Patience")
        until(lambda: status(folder).edits_waiting == ("plan.json",), 30)
        assert title(folder) != "Patience"
        assert status(folder).work.running
    until(lambda: title(folder) == "Patience", 30)
    until(lambda: not status(folder).edits_waiting, 30)
    _, _, told, _ = watch.end(signal.SIGTERM)
    assert told.count("waits") == 1


@pytest.mark.slow
def test_a_hundred_saves_a_second_lose_nothing(folder: SwarmFolder) -> None:
    watch = Watch(folder)
    text = folder.plan_md.read_text()
    line = next(line for line in text.splitlines() if line.startswith("- [ ] Task 1.2: "))
    size = line[line.index("[", 6) :]
    began, number = time.monotonic(), 0
    while time.monotonic() < began + 2:
        number += 1
        folder.plan_md.write_text(text.replace(line, f"- [ ] Task 1.2: Save {number} {size}"))
        time.sleep(0.01)
    taken = f"Save {number} ["  # an editor that never reads again edits an old version: later saves contradict earlier

    def kept() -> bool:
        return any(taken in path.read_text() for path in folder.quarantine.glob("*plan.md"))

    until(lambda: title(folder) == f"Save {number}" or kept(), 30)
    until(lambda: f"Task 1.2: {title(folder)} [" in folder.plan_md.read_text(), 30)
    code, _, told, _ = watch.end(signal.SIGTERM)
    assert code == 0
    assert "failed" not in told


# --- two of them, and kill -9 ---


@pytest.mark.slow
def test_a_second_one_names_the_first(folder: SwarmFolder) -> None:
    watch = Watch(folder)
    for args in (["watch"], ["watch", "--daemon"]):
        second = swarm(folder, *args)
        assert second.exit_code == 2
        assert f"pid {watch.process.pid}" in second.stderr
    assert json.loads(swarm(folder, "watch", "--json").stdout)["error"] == "ALREADY_WATCHING"
    watch.end(signal.SIGTERM)


@pytest.mark.slow
def test_after_kill_9_the_next_one_takes_over_and_says_so(folder: SwarmFolder) -> None:
    first = Watch(folder)
    code, *_ = first.end(signal.SIGKILL)
    assert code == -9
    assert read_owner(folder.watch_lock)["pid"] == first.process.pid
    found = swarm(folder, "watch", "status")
    assert found.exit_code == 1
    assert "is gone without an end" in found.stdout
    stopped = swarm(folder, "watch", "stop")
    assert (stopped.exit_code, stopped.stdout) == (0, "Nobody watches this project.\n")
    _, _, told, _ = Watch(folder).end(signal.SIGTERM)
    assert f"took over from a watching process that is gone (pid {first.process.pid}" in told


# --- the daemon ---


@pytest.mark.slow
def test_a_daemon_watches_when_the_command_returns_and_stops_within_two_seconds(folder: SwarmFolder) -> None:
    begun = swarm(folder, "watch", "--daemon", "--json")
    assert begun.exit_code == 0, begun.output
    data = json.loads(begun.stdout)
    assert (data["watching"], data["file"]["place"], data["file"]["watching"]) == (True, "daemon", "events")
    assert data["pid"] == live_owner(folder.watch_lock)["pid"] != os.getpid()
    assert os.getsid(data["pid"]) != os.getsid(0)
    edited(folder, "By the daemon")
    until(lambda: "By the daemon" in folder.plan_md.read_text(), 30)
    people = swarm(folder, "watch", "status")
    assert people.exit_code == 0
    assert "as a daemon, by events; mode manual" in people.stdout
    assert re.search(r"plan_sync +on", people.stdout)
    began = time.monotonic()
    stopped = swarm(folder, "watch", "stop", "--json")
    assert stopped.exit_code == 0
    now = json.loads(stopped.stdout)
    assert (now["watching"], now["pid"], now["ended"]["pid"]) == (False, 0, data["pid"])
    assert 0 <= now["ended"]["seconds"] < 20
    assert now["file"]["watching"] == "stopped"
    assert time.monotonic() - began < 20
    until(lambda: not _alive(data["pid"]))
    assert "plan amended by hand in plan.json" in folder.watch_log.read_text()
    assert swarm(folder, "watch", "status").exit_code == 1


@pytest.mark.slow
def test_a_daemon_that_hangs_is_killed_and_that_is_said(folder: SwarmFolder) -> None:
    swarm(folder, "watch", "--daemon")
    pid = int(str(live_owner(folder.watch_lock)["pid"]))
    os.kill(pid, signal.SIGSTOP)
    folder.status.write_bytes(b"\xff")  # the lock says what holds it
    began = time.monotonic()
    stopped = swarm(folder, "watch", "stop")
    assert stopped.exit_code == 0
    assert "it is killed" in stopped.stderr
    assert "was killed" in stopped.stdout
    assert time.monotonic() - began < 20
    until(lambda: not live_owner(folder.watch_lock), 30)


def test_a_daemon_that_cannot_begin_says_why(folder: SwarmFolder) -> None:
    folder.config.write_text("[automation]\nmode = 'fast'\n")
    refused = swarm(folder, "watch", "--daemon")
    assert refused.exit_code == 2
    assert "mode" in refused.stderr


def test_a_daemon_that_dies_at_once_shows_the_end_of_its_log(
    folder: SwarmFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'no module of that name' >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    refused = swarm(folder, "watch", "--daemon")
    assert refused.exit_code == 2
    assert "no module of that name" in refused.stderr


@pytest.mark.slow
def test_a_python_package_of_the_projects_own_does_not_get_in_the_way(folder: SwarmFolder) -> None:
    (folder.root / "typing.py").write_text("raise SystemExit(3)\n")
    assert swarm(folder, "watch", "--daemon").exit_code == 0
    assert swarm(folder, "watch", "stop").exit_code == 0


def test_the_workers_of_a_run_are_not_stopped_this_way(folder: SwarmFolder) -> None:
    """Its lock is held by this very process, and its status says that it is a run."""
    with Watcher(folder, (), config=Automation(mode="manual"), place="run"):
        refused = swarm(folder, "watch", "stop")
        assert refused.exit_code == 2
        assert "swarm stop" in refused.stderr
        for args in (["watch"], ["watch", "--daemon"]):
            second = swarm(folder, *args)
            assert second.exit_code == 2
            assert "A run is at work in this project, and does the same beside its steps" in second.stderr
            assert "Begin when it has ended" in second.stderr
        assert "plan_sync  on   by the run" in swarm(folder, "watch", "status").stdout.replace("  on  by", "  on   by")


# --- the rest ---


def test_nobody_watches(folder: SwarmFolder) -> None:
    assert swarm(folder, "watch", "stop").exit_code == 0
    found = swarm(folder, "watch", "status", "--json")
    assert found.exit_code == 1
    assert json.loads(found.stdout) == {
        "watching": False,
        "pid": 0,
        "host": "",
        "file": None,
        "told": [],
        "ended": None,
    }


def test_a_watcher_that_writes_no_status_any_more_is_told(folder: SwarmFolder) -> None:
    with Watcher(folder, (), config=Automation(mode="manual"), place="watch"):
        assert "hangs" not in swarm(folder, "watch", "status").stdout
        old = status(folder).model_copy(update={"written_at": "2026-01-01T00:00:00Z"})
        status_file.write(folder, old)
        assert "it hangs, or the disk refuses" in swarm(folder, "watch", "status").stdout


def test_options_before_the_verb_are_refused(folder: SwarmFolder) -> None:
    refused = CliRunner().invoke(app, ["watch", "--json", "status"])
    assert refused.exit_code == 2


def test_a_symbolic_link_is_refused(folder: SwarmFolder) -> None:
    away = folder.root.with_name("away")
    folder.path.rename(away)
    folder.path.symlink_to(away)
    refused = swarm(folder, "watch")
    assert refused.exit_code == 2
    assert "symbolic link" in refused.stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_an_idle_watcher_costs_next_to_nothing(folder: SwarmFolder) -> None:
    """At most 0.5% of a core and 60 MB (issue 7); and no library of another verb is in it."""
    swarm(folder, "watch", "--daemon")
    pid = live_owner(folder.watch_lock)["pid"]
    time.sleep(1)
    before, began = _seconds(pid), time.monotonic()
    time.sleep(3)
    used = (_seconds(pid) - before) / (time.monotonic() - began)
    assert used <= 0.01  # a tick of the clock is 0.33% of this time
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    assert int(fields["VmRSS"].split()[0]) <= 60_000
    maps = Path(f"/proc/{pid}/maps").read_text()
    assert not [name for name in ("scipy", "tree_sitter", "matplotlib", "openai") if name in maps]


def _seconds(pid: object) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _alive(pid: int) -> bool:
    """Whether it runs; one that nobody has asked for its exit code yet (a container without an init) does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()
