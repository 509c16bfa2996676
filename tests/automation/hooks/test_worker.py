"""Tests the user's commands on events, with real shells in the sandbox of this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.confined import SANDBOX, runner
from tests.domain.story import PLAN

from swarmgate.automation.bus.guarded_worker import GuardedWorker
from swarmgate.automation.bus.worker import BusEvent
from swarmgate.automation.hooks.events import HOOKABLE, is_own, meant, sample, subject_of, variables_of
from swarmgate.automation.hooks.worker import OUTPUT_CHARS, Hooks, unknown_hooks, why_not
from swarmgate.config import Config, load
from swarmgate.domain.events.automation import AUTOMATION_EVENTS, Happening, HookRan
from swarmgate.domain.events.event import EVENTS
from swarmgate.domain.state.state import State, replace
from swarmgate.domain.text.redaction import redact
from swarmgate.errors import MissingRequirement
from swarmgate.ledger.files.automation_log import AutomationLog
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.sandbox.choice import choose
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confine import confine
from swarmgate.workspace.sandbox.confinement import Confinement

PROJECT = Path(__file__).parents[3]
PLANNED = replace(State(), plan=PLAN)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    root.mkdir()
    (root / ".git").mkdir()
    (root / ".swarm").mkdir()
    return root


def hooks(root: Path, lines: dict[str, str] | None = None, *, hook_s: float = 10, **commands: str) -> Hooks:
    def run() -> CommandRunner:
        return runner(root)

    return Hooks(commands={**commands, **(lines or {})}, runner=run, root=root, hook_s=hook_s, redact=redact)


def told(kind: str = "task_completed", *, source: Any = "ledger", actor: str = "swarmgate", **data: Any) -> Happening:
    data = {"type": kind, **data}
    return Happening(source=source, seq=41, time="2026-11-22T02:29:54.000Z", actor=actor, data=data)


def seen(happening: Happening) -> BusEvent:
    return BusEvent(happening, State(), PLANNED)


# --- what a command is told ---


def test_a_hook_gets_its_event_on_stdin_and_in_variables(repository: Path) -> None:
    command = "pwd; env | grep ^SWARM | grep -v ^SWARMGATE_CALL= | sort; cat"
    ran = hooks(repository, task_completed=command).work("", seen(told(task="2.1", attempt=3)))
    assert (ran.event, ran.seq, ran.exit_code, ran.problem) == ("task_completed", 41, 0, "")
    place, *variables, event = ran.output.splitlines()
    assert place == str(repository)
    assert variables == [
        "SWARMGATE_ATTEMPT=3",
        "SWARMGATE_EVENT=task_completed",
        f"SWARMGATE_FOLDER={repository}/.swarm/runtime/hooks",
        "SWARMGATE_PHASE=2",
        f"SWARMGATE_REPO={repository}",
        "SWARMGATE_SEQ=41",
        "SWARMGATE_TASK=2.1",
        "SWARMGATE_TIME=2026-11-22T02:29:54.000Z",
    ]
    assert json.loads(event) == told(task="2.1", attempt=3).model_dump(mode="json")


def test_nothing_of_an_event_is_ever_run(repository: Path) -> None:
    evil = "$(touch pwned) `touch pwned` ; touch pwned\n' \" \x00 | touch pwned #"
    happening = told("task_skipped", task=evil, phase=evil, reason=evil)
    ran = hooks(repository, task_skipped='echo "$SWARMGATE_TASK"; cat > /dev/null').run(happening, State())
    assert ran.exit_code == 0
    assert "$(touch pwned) `touch pwned` ; touch pwned" in ran.output
    assert not (repository / "pwned").exists()


def test_what_an_event_does_not_say_is_empty() -> None:
    variables = variables_of(told("plan_approved"), State(), "/r", "/r/own")
    assert variables["SWARMGATE_EVENT"] == "plan_approved"
    assert {variables[f"SWARMGATE_{name}"] for name in ("TASK", "PHASE", "ATTEMPT")} == {""}
    assert variables_of(told("phase_closed", phase=2), PLANNED, "/r", "/r/own")["SWARMGATE_PHASE"] == "2"
    assert not any(name.startswith("SWARM_") for name in variables)  # those are settings of swarm itself


# --- how it ends ---


def test_exit_code_and_output_are_told(repository: Path) -> None:
    ran = hooks(repository, task_completed="echo out; echo err >&2; exit 3").run(told(), State())
    assert (ran.exit_code, ran.output, ran.problem) == (3, "out\nerr", "")
    assert 0 < ran.seconds < 10


def test_output_is_short_and_holds_no_secrets(repository: Path) -> None:
    key = "sk-" + "abcdefghijklmnopqrstuvwx"
    command = f"seq 1 5000; echo key {key}"
    ran = hooks(repository, task_completed=command).run(told(), State())
    assert len(ran.output) <= OUTPUT_CHARS
    assert ran.output.endswith("[redacted]")
    assert key not in ran.model_dump_json()


def test_a_key_that_the_cut_goes_through_is_masked_before_it(repository: Path) -> None:
    key = "sk-" + "abcdefghijklmnopqrstuvwx"
    tail = "." * (OUTPUT_CHARS - 11)  # of the key, the last ten characters would stay
    ran = hooks(repository, task_completed=f"printf '%s %s' {key} {tail}").run(told(), State())
    assert len(ran.output) == OUTPUT_CHARS
    assert key[-10:] not in ran.output


@pytest.mark.slow
def test_a_hook_that_never_returns_is_ended_with_all_that_it_started(repository: Path) -> None:
    command = 'sleep 301 & trap "" TERM; sleep 301'
    started = time.monotonic()
    ran = hooks(repository, hook_s=0.5, task_completed=command).run(told(), State())
    assert ran.exit_code is None
    assert "did not end within 0.5 s" in ran.problem
    assert time.monotonic() - started < 60
    assert not _running("sleep 301", repository)


def test_without_a_sandbox_it_never_began(repository: Path) -> None:
    def none() -> CommandRunner:
        raise MissingRequirement("no sandbox works here", hint="install bubblewrap")

    each = Hooks(commands={"task_completed": "true"}, runner=none, root=repository, hook_s=1, redact=redact)
    ran = each.run(told(), State())
    assert (ran.exit_code, ran.problem) == (None, "no sandbox works here install bubblewrap")


@pytest.mark.parametrize("place", ["new.txt", "src/new.txt", ".swarm/config.toml", ".git/hooks/x", ".swarm/runtime/x"])
def test_it_reads_the_repository_and_writes_nothing_there(repository: Path, place: str) -> None:
    if runner(repository).sandbox.name == "none":
        pytest.skip("this machine has no sandbox")
    for folder in ("src", ".git/hooks"):
        (repository / folder).mkdir(parents=True)
    (repository / "src/a.txt").write_text("read")
    ran = hooks(repository, task_completed=f"cat src/a.txt; echo x > {place}").run(told(), State())
    assert ran.exit_code != 0
    assert ran.output.startswith("read")
    assert not (repository / place).exists()


def test_it_has_one_folder_to_write_and_those_that_the_settings_open(repository: Path, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    opened.mkdir()

    def run() -> CommandRunner:
        return CommandRunner(
            choose(SANDBOX), confine(repository, environ=os.environ, writable=[str(opened), str(repository / "out")])
        )

    (repository / "out").mkdir()
    line = f'echo own > "$SWARMGATE_FOLDER/a"; echo opened > {opened}/b; echo inside > out/c'
    each = Hooks(commands={"task_completed": line}, runner=run, root=repository, hook_s=10, redact=redact)
    assert each.run(told(), State()).exit_code == 0
    assert (repository / ".swarm/runtime/hooks/a").read_text() == "own\n"
    assert (opened / "b").read_text() == "opened\n"
    assert (repository / "out/c").read_text() == "inside\n"


@pytest.mark.parametrize("leads", [".git", "../elsewhere"])
def test_a_link_in_the_place_of_its_folder_opens_nothing(repository: Path, leads: str) -> None:
    (repository / leads).mkdir(exist_ok=True)
    (repository / ".swarm/runtime").mkdir()
    (repository / ".swarm/runtime/hooks").symlink_to(repository / leads)
    ran = hooks(repository, task_completed='echo x > "$SWARMGATE_FOLDER/a"').run(told(), State())
    assert ran.exit_code is None
    assert "leads elsewhere by a link" in ran.problem
    assert list((repository / leads).iterdir()) == []


def test_a_folder_that_cannot_be_made_is_told(repository: Path) -> None:
    (repository / ".swarm/runtime").write_text("a file in the place of the folder")
    ran = hooks(repository, task_completed="true").run(told(), State())
    assert ran.exit_code is None
    assert ".swarm/runtime/hooks could not be written" in ran.problem


def test_a_sandbox_that_refuses_is_no_exit_code(repository: Path) -> None:
    class Refusing:
        name, relocates, private_home, weaknesses, hindrances = "refusing", False, False, (), ()

        def argv(self, *_: Any) -> list[str]:
            return ["/bin/sh", "-c", "echo no namespaces >&2; exit 1"]

        def refused(self, done: Any) -> str:
            return str(done.stderr.strip())

    stuck = CommandRunner(Refusing(), Confinement(root=repository, home=repository))
    each = Hooks(commands={"task_completed": "true"}, runner=lambda: stuck, root=repository, hook_s=5, redact=redact)
    ran = each.run(told(), State())
    assert (ran.exit_code, ran.problem) == (None, "no namespaces")


def bare(root: Path, *, withheld: tuple[str, ...] = (), **commands: str) -> Hooks:
    """With nothing around them: `[commands] sandbox = "none"`."""
    unconfined = CommandRunner(choose("none"), Confinement(root=root, home=root))
    return Hooks(commands=commands, runner=lambda: unconfined, root=root, hook_s=60, redact=redact, withheld=withheld)


def test_keys_are_withheld_where_nothing_confines(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "secret-value")
    line = "echo ${THE_KEY:-none} ${PATH:+path}"
    each = bare(repository, withheld=("THE_KEY", "NOT_SET"), task_completed=line)
    assert each.run(told(), State()).output == "none path"
    assert os.environ["THE_KEY"] == "secret-value"


@pytest.mark.slow
def test_a_hook_ends_with_the_process_that_runs_it(repository: Path) -> None:
    script = f"""
import threading, time
from pathlib import Path
from tests.automation.hooks.test_worker import bare, told
from swarmgate.domain.state.state import State
root = Path({str(repository)!r})
each = bare(root, task_completed="touch began; exec sleep 61")
threading.Thread(target=each.run, args=(told(), State()), daemon=True).start()
while not (root / "began").exists():
    time.sleep(0.02)
"""
    started = time.monotonic()
    subprocess.run([sys.executable, "-c", script], check=True, timeout=30, cwd=PROJECT)
    assert time.monotonic() - started < 15
    assert not _running("sleep 61", repository)


def _running(command: str, cwd: Path) -> list[str]:
    """Processes with that command line that run in a folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            if words == command and (place / "cwd").readlink() == cwd:
                found.append(place.name)
        except OSError:
            continue
    return found


# --- which events ---


def test_only_events_with_a_hook_are_subjects() -> None:
    each = hooks(Path("/r"), task_completed="true", plan_amended="true", trigger_fired="true")
    assert each.name == "hooks"
    assert each.subject(seen(told(task="1.1"))) == "task_completed task 1.1"
    assert each.subject(seen(told("plan_amended"))) == "plan_amended"
    assert each.subject(seen(told("task_blocked", task="1.1"))) == ""
    assert hooks(Path("/r"), task_blocked=" ").subject(seen(told("task_blocked", task="1.1"))) == ""
    assert subject_of(told("phase_closed", phase=2)) == "phase_closed phase 2"


@pytest.mark.parametrize(
    "happening",
    [
        told("trigger_fired", source="automation", actor="hooks", capability="hooks"),
        told("worker_failed", source="automation", actor="bus", worker="hooks"),
        told("dead_letter", source="automation", actor="bus", subscriber="hooks"),
        told("watch_stopped", source="automation", actor="hooks"),
    ],
)
def test_what_hooks_cause_starts_no_hook(happening: Happening) -> None:
    each = hooks(Path("/r"), {happening.type: "true"})
    assert is_own(happening)
    assert each.subject(seen(happening)) == ""


def test_what_others_cause_does() -> None:
    each = hooks(Path("/r"), trigger_fired="true", dead_letter="true")
    fired = told("trigger_fired", source="automation", actor="phase_preflight", capability="phase_preflight")
    assert each.subject(seen(fired)) == "trigger_fired"
    assert each.subject(seen(told("dead_letter", source="automation", subscriber="drift"))) == "dead_letter"


def test_what_no_hook_can_be_on_is_told_with_the_nearest() -> None:
    config = Config.model_validate({"hooks": {"task_complete": "true", "phase_closed": "true", "hook_ran": "true"}})
    assert unknown_hooks(config) == ("task_complete", "hook_ran")
    assert why_not("task_complete") == "there is no such event; did you mean task_completed?"
    assert why_not("hook_ran") == "a hook on it would start itself"
    assert why_not("zzz") == "there is no such event"
    assert not unknown_hooks(Config.model_validate({"hooks": {"phase_closed": "true", "watch_started": "true"}}))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("task_complete", "task_completed"),
        ("Task-Completed", "task_completed"),
        ("task_rejected", "attempt_rejected"),
        ("task_finished", "task_completed"),
        ("task_failed", "task_blocked"),
        ("phase_completed", "phase_closed"),
        ("run_stopped", "run_paused"),
        ("plan_changed", "plan_amended"),
        ("preflight_failed", "preflight_ran"),
        ("zzz", ""),
        ("", ""),
    ],
)
def test_a_wrong_name_is_understood_by_its_meaning(wrong: str, right: str) -> None:
    assert meant(wrong) == right


@pytest.mark.parametrize("event", HOOKABLE)
def test_there_is_a_made_up_event_of_every_type(event: str) -> None:
    data = sample(event)
    kind = EVENTS.get(event) or AUTOMATION_EVENTS[event]
    assert data["type"] == event
    assert kind.model_validate(data).model_dump(mode="json") == data


# --- as a worker ---


@pytest.mark.slow
def test_a_hook_that_starts_its_own_event_is_stopped_by_loop_protection(repository: Path) -> None:
    folder = SwarmFolder(repository)
    journal = AutomationLog(folder)
    guarded = GuardedWorker(hooks(repository, plan_amended="echo again"), journal, call_s=10)
    for _ in range(15):
        guarded.handle(seen(told("plan_amended")))
    kinds = [each.type for each in journal.read()]
    assert kinds.count("hook_ran") == 10
    assert kinds.count("trigger_suppressed") == 1


@pytest.mark.slow
def test_one_that_fails_is_told_and_opens_no_breaker(repository: Path) -> None:
    journal = AutomationLog(SwarmFolder(repository))
    guarded = GuardedWorker(
        hooks(repository, hook_s=3, task_completed="sleep 60", task_blocked="exit 1"), journal, call_s=30
    )
    for n in range(6):
        guarded.handle(seen(told("task_blocked", task=f"1.{n}")))
    guarded.handle(seen(told(task="1.1")))
    ran = [HookRan.model_validate(each.data) for each in journal.read() if each.type == "hook_ran"]
    assert [each.exit_code for each in ran] == [1] * 6 + [None]
    assert guarded.snapshot().failures == 0


def test_signals_are_told_as_the_shell_tells_them(repository: Path) -> None:
    ran = hooks(repository, task_completed="kill -9 $$").run(told(), State())
    assert ran.exit_code in {-signal.SIGKILL, 128 + signal.SIGKILL}


def test_the_example_is_read_and_its_lines_work(repository: Path, tmp_path: Path) -> None:
    config = load(user_file=tmp_path / "none.toml", project_file=PROJECT / "examples/hooks.toml", environ={})
    assert not unknown_hooks(config)
    each = hooks(repository, dict(config.hooks))
    assert each.run(told("task_blocked", task="1.2"), State()).exit_code == 0
    assert each.run(told("phase_closed", phase=1), State()).exit_code == 0
    own = repository / ".swarm/runtime/hooks"
    assert (own / "blocked.txt").read_text() == "2026-11-22T02:29:54.000Z task 1.2 is blocked\n"
    assert json.loads((own / "phases.jsonl").read_text())["data"]["phase"] == 1
    for passed, lines in ((True, 0), (False, 1)):
        assert each.run(told("preflight_ran", passed=passed), State()).exit_code == 0
        assert len(list(own.glob("todo.txt"))) == lines


def test_the_templates_example_works_as_it_is_written(repository: Path) -> None:
    text = (PROJECT / ".swarm-template/config.toml").read_text()
    hook = text.partition("# [hooks]\n")[2].splitlines()[0].removeprefix("# ")
    (line,) = tomllib.loads(hook).values()
    assert hook.startswith("task_completed = ")
    assert hooks(repository, task_completed=line).run(told(task="2.1"), State()).exit_code == 0
    assert (repository / ".swarm/runtime/hooks/done.txt").read_text() == "2.1 is done\n"
