"""Supervisors: calls at once never touch each other, and nothing outlives a call, or a swarmgate that was killed."""

from __future__ import annotations

import asyncio
import os
import random
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from swarmgate.errors import MissingRequirement
from swarmgate.workspace.process import orphans
from swarmgate.workspace.process.process import run
from swarmgate.workspace.process.supervision import connection
from swarmgate.workspace.sandbox.choice import Kind, choose
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confine import confine

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="nobody adopts orphans there")

KINDS: tuple[Kind, ...] = ("none", "bubblewrap", "landlock")
PYTHON = shlex.quote(sys.executable)
DOUBLE_FORK = (
    "import os, time\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0:\n"
    "        os.execve('/bin/sh', ['sh', '-c', {late!r}], {{}})\n"
    "    os._exit(0)\n"
    "os.wait()\n"
)
ENDINGS = (0, 1, 3, 42)
DAEMONS = {
    "child": "({late}) >/dev/null 2>&1 &",
    "setsid": "setsid sh -c '{late}' >/dev/null 2>&1 &",
    "no environment": "env -i setsid sh -c '{late}' >/dev/null 2>&1 &",
    "of another run": "env -i SWARMGATE_CALL=1-1-00000000 setsid sh -c '{late}' >/dev/null 2>&1 &",
    "double fork": f"{PYTHON} src/daemon.py &",
}


def runner(root: Path, kind: Kind) -> CommandRunner:
    """Runs commands in a project, confined so; skips the test where that cannot be had."""
    try:
        return CommandRunner(choose(kind), confine(root, environ=os.environ))
    except MissingRequirement as error:
        pytest.skip(error.message)


def line(root: Path, daemon: str, late: str, rest: str) -> str:
    """A command that starts a daemon of its kind, which would do `late`, and goes on with `rest`."""
    (root / "src/daemon.py").write_text(DOUBLE_FORK.format(late=late))
    return f"{DAEMONS[daemon].format(late=late)} {rest}"


async def storm(root: Path, kind: Kind, calls: int, at_once: int) -> list[tuple[int, int | None]]:
    """Of calls at once, those that did not end as they should: what they should have said, and what was said."""
    commands, turn = runner(root, kind), asyncio.Semaphore(at_once)
    names = list(DAEMONS)

    async def one(number: int) -> tuple[int, int | None]:
        expected = ENDINGS[number % len(ENDINGS)]
        command = line(root, names[number % len(names)], "sleep 20", f"sleep 0.0{number % 7}; exit {expected}")
        async with turn:
            done = await commands.run(command, timeout_s=60)
        return expected, done.exit_code

    ended = await asyncio.gather(*(one(number) for number in range(calls)))
    return [(expected, said) for expected, said in ended if expected != said]


@pytest.fixture
def project(repo: Path) -> Path:
    (repo / ".swarm").mkdir()
    return repo


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
async def test_calls_at_once_never_end_each_other(project: Path, kind: Kind) -> None:
    assert await storm(project, kind, calls=24, at_once=12) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
async def test_a_storm_of_calls_never_ends_one_of_them(project: Path, kind: Kind) -> None:
    assert await storm(project, kind, calls=400, at_once=40) == []


def test_calls_of_several_threads_never_end_each_other(project: Path) -> None:
    commands, ended = runner(project, "landlock"), list[int | None]()

    def work(number: int) -> None:
        async def few() -> None:
            for _ in range(3):
                ended.append((await commands.run(f"sleep 0.01; exit {number}", timeout_s=60)).exit_code)

        asyncio.run(few())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, ended)) == sorted(str(number) for number in range(4) for _ in range(3))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_is_changed_after_a_call(project: Path, kind: Kind) -> None:
    late = "sleep 0.6; echo late > src/late"
    daemons = " ".join(line(project, daemon, late, "") for daemon in DAEMONS)
    done = await runner(project, kind).run(f"{daemons} sleep 0.1; exit 7", timeout_s=60)
    assert done.exit_code == 7
    assert not _working_in(project)
    await asyncio.sleep(0.6)
    assert not (project / "src/late").exists()


async def test_a_chain_of_processes_that_only_forks_ends_with_its_call(project: Path) -> None:
    script = (
        "import os, sys, time\n"
        "ends = time.monotonic() + 20\n"
        "sys.stdout.write('begun\\n'), sys.stdout.flush()\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    for number in (0, 1, 2): os.close(number)\n"
        "    while time.monotonic() < ends:\n"
        "        if os.fork(): os._exit(0)\n"
        "    open('src/late', 'w')\n"
    )
    done = await run([sys.executable, "-c", script], cwd=project, timeout_s=60)
    assert done.stdout == "begun\n"
    assert not _working_in(project)


async def test_no_descriptor_and_no_process_is_left_of_many_calls(project: Path) -> None:
    await run("true", cwd=project, timeout_s=60)
    before = _descriptors()
    for _ in range(5):
        await asyncio.gather(*(run("echo x; exit 1", cwd=project, timeout_s=60) for _ in range(4)))
    assert _descriptors() == before
    async with asyncio.timeout(20):
        while _supervisors():  # noqa: ASYNC110 - the kernel tells it
            await asyncio.sleep(0.005)


# --- supervisors that are killed ---


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _supervisors() -> list[int]:
    server = connection._state.server
    assert server
    return [*map(int, Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split())]


def _working_in(folder: Path) -> list[str]:
    """The processes whose current folder is this one, by their command lines."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if Path(f"/proc/{entry.name}/cwd").readlink() == folder:
                    found.append(Path(f"/proc/{entry.name}/cmdline").read_text())
            except OSError:
                continue
    return [command for command in found if command]


async def _until(there: Path) -> None:
    while not there.exists():  # noqa: ASYNC110, ASYNC240 - a file tells it
        await asyncio.sleep(0.005)


async def test_a_supervisor_that_is_killed_takes_its_call_with_it(project: Path) -> None:
    command = line(project, "double fork", "sleep 30", "touch src/begun; sleep 30")
    call = asyncio.create_task(run(command, cwd=project, timeout_s=60))
    await _until(project / "src/begun")
    other = asyncio.create_task(run("sleep 0.3; exit 4", cwd=project, timeout_s=60))
    for pid in _supervisors()[:1]:
        os.kill(pid, signal.SIGKILL)
    done = await call
    assert done.was_killed
    assert not [each for each in _working_in(project) if "sleep\x0030" in each]
    assert (await other).exit_code == 4


async def test_a_server_that_is_killed_is_replaced_and_its_calls_go_on(project: Path) -> None:
    call = asyncio.create_task(run("touch src/begun; sleep 0.3; exit 5", cwd=project, timeout_s=60))
    await _until(project / "src/begun")
    server = connection._state.server
    assert server
    server.process.kill()
    server.process.wait()
    assert (await run("exit 6", cwd=project, timeout_s=60)).exit_code == 6
    assert (await call).exit_code == 5


async def test_a_call_that_is_begun_again_loses_nothing_of_its_output(project: Path) -> None:
    await run("true", cwd=project, timeout_s=60)
    server = connection._state.server
    assert server
    server.process.send_signal(signal.SIGSTOP)  # it has the call's descriptors, and never answers
    call = asyncio.create_task(
        run("head -c 900000 /dev/zero | tr '\\0' x; sleep 0.1; echo end", cwd=project, timeout_s=60, output_limit=10**6)
    )
    await asyncio.sleep(0)
    server.process.kill()
    done = await call
    assert (len(done.stdout), done.stdout[-4:]) == (900_004, "end\n")


@pytest.mark.slow
def test_a_fork_has_a_supervisor_of_its_own(project: Path) -> None:
    script = (
        "import asyncio, os, pathlib\n"
        "from swarmgate.workspace.process.process import run\n"
        "def code(command): return asyncio.run(run(command, cwd=pathlib.Path('.'), timeout_s=60)).exit_code\n"
        "assert code('exit 3') == 3\n"
        "pid = os.fork()\n"
        "if not pid:\n"
        "    os._exit(code('exit 4'))\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 4\n"
        "assert code('exit 5') == 5\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=project, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# --- kill -9 of swarmgate ---

RUN = """
import asyncio, os, sys
from pathlib import Path
from swarmgate.workspace.sandbox.choice import choose
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confine import confine

root = Path(sys.argv[1])
commands = CommandRunner(choose(sys.argv[2]), confine(root, environ=os.environ))

async def main():
    print("ready", flush=True)
    while True:
        await asyncio.gather(*(commands.run(line, timeout_s=60) for line in sys.argv[3:]))

asyncio.run(main())
"""


def killed(root: Path, kind: Kind, lines: list[str], after_s: float, *, begun: Path | None = None) -> None:
    """A process that runs commands, and is killed so much later, at the earliest when `begun` is there."""
    argv = [sys.executable, "-c", RUN, str(root), kind, *lines]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        while begun and not begun.exists():
            time.sleep(0.005)
        time.sleep(after_s)
        process.kill()


def late_lines(root: Path) -> list[str]:
    late = "sleep 0.5; date +%s.%N >> src/late"
    return [line(root, daemon, late, f"touch src/begun; {late}") for daemon in DAEMONS]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_written_after_swarmgate_was_killed(project: Path, kind: Kind) -> None:
    runner(project, kind)
    killed(project, kind, late_lines(project), 0.1, begun=project / "src/begun")
    assert orphans.end(git=True) == ()
    (project / "src/late").unlink(missing_ok=True)
    assert not _working_in(project)
    time.sleep(0.6)
    assert not (project / "src/late").exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_written_after_a_kill_at_any_moment(project: Path, kind: Kind) -> None:
    runner(project, kind)
    chance = random.Random(13)  # noqa: S311 - moments, not keys
    for _ in range(40):
        killed(project, kind, late_lines(project), chance.choice((chance.uniform(0, 0.06), chance.uniform(0, 1))))
        assert orphans.end(git=True) == ()
        (project / "src/late").unlink(missing_ok=True)
        assert not _working_in(project)
        time.sleep(0.6)
        assert not (project / "src/late").exists()


def test_what_lost_its_supervisor_is_found_by_the_name_of_its_run(project: Path) -> None:
    """Everything that could have ended it is killed as well: with the rights of its user, a command may do that."""
    script = (
        "import asyncio, os, pathlib, signal\n"
        "from swarmgate.workspace.process.process import run\n"
        "from swarmgate.workspace.process import table as processes\n"
        "from swarmgate.workspace.process.supervision import connection\n"
        "async def main():\n"
        "    call = asyncio.create_task(run('setsid sh -c \"touch src/begun; sleep 30; :\" & wait',\n"
        "                                   cwd=pathlib.Path('.'), timeout_s=60))\n"
        "    while not os.path.exists('src/begun'): await asyncio.sleep(0.01)\n"
        "    server = connection._state.server.process.pid\n"
        "    supervisors = open(f'/proc/{server}/task/{server}/children').read().split()\n"
        "    for pid in (server, *map(int, supervisors), os.getpid()): os.kill(pid, signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=project, check=False)
    assert _working_in(project)
    assert orphans.end() == ()
    assert not _working_in(project)


@pytest.fixture
def bystanders(project: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes of the user, of a run that lives, and of runs that another kernel or container counts."""
    dead = subprocess.run(
        [sys.executable, "-c", "from swarmgate.workspace.process import identity; print(identity.own())"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    pid, start, world = dead.split("-")
    marks = (None, orphans.mark(), f"{pid}-{start}-{world[::-1]}x;", f"{dead};{orphans.mark()}", "nonsense;")
    started = []
    for mark in marks:
        more = {orphans.VARIABLE: mark} if mark else {}
        started.append(subprocess.Popen(["sleep", "30"], env={**os.environ, **more}, start_new_session=True))
    daemon = {orphans.GIT: f"{dead};{os.getsid(0)}"}  # of a hook's, with a session of its own
    started.append(subprocess.Popen(["sleep", "30"], env={**os.environ, **daemon}, start_new_session=True))
    yield started
    for process in started:
        process.kill()
        process.wait()


def test_what_is_not_a_dead_run_s_is_left_alone(bystanders: list[subprocess.Popen[bytes]]) -> None:
    assert orphans.end(git=True) == ()
    assert [process.poll() for process in bystanders] == [None] * len(bystanders)


def test_git_and_its_hooks_end_with_a_run_that_was_killed(repo: Path) -> None:
    hook = repo / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\ntouch begun\nsleep 1\necho late > late\n")
    hook.chmod(0o755)
    script = (
        "from pathlib import Path\nfrom swarmgate.workspace.git.driver import call\n"
        "call(Path('.').resolve(), 'commit', '--allow-empty', '--message=x')"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=repo) as process:
        while not (repo / "begun").exists():
            time.sleep(0.005)
        process.kill()
    assert orphans.end(git=True) == ()
    assert not _working_in(repo)
    assert not (repo / "late").exists()


@pytest.mark.slow
async def test_the_end_of_a_program_is_told_before_that_of_its_stubborn_children(project: Path) -> None:
    stubborn = "(trap '' TERM; while :; do sleep 0.05; done) >/dev/null 2>&1 & sleep 0.2; exit 3"
    done = await run(stubborn, cwd=project, timeout_s=0.9)
    assert (done.exit_code, done.timed_out) == (3, False)


async def test_who_is_cancelled_twice_goes_on_when_all_is_over(project: Path) -> None:
    line = "trap '' TERM; touch src/begun; while :; do sleep 0.02; touch src/late; done"
    call = asyncio.create_task(run(line, cwd=project, timeout_s=60))
    await _until(project / "src/begun")
    call.cancel()
    await asyncio.sleep(0.05)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not _working_in(project)


@pytest.mark.slow
def test_a_swarmgate_without_standard_streams_runs_programs(project: Path) -> None:
    script = (
        "import asyncio, os, pathlib\n"
        "for number in (0, 1, 2): os.close(number)\n"
        "from swarmgate.workspace.process.process import run\n"
        "done = asyncio.run(run('cat; echo told; exit 3', cwd=pathlib.Path('.'), timeout_s=60, stdin=b'given '))\n"
        "pathlib.Path('said').write_text(f'{done.exit_code} {done.stdout}')\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=project, check=False)
    assert (project / "said").read_text() == "3 given told\n"
