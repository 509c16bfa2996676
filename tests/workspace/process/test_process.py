"""Processes: bounded in time and memory, and nothing outlives the call."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from swarmgate.errors import MissingRequirement, WorkspaceError
from swarmgate.workspace.process import table
from swarmgate.workspace.process.process import run


def gone(pid_file: Path) -> bool:
    """Whether the process of that number ends within seconds (a zombie has ended)."""
    pid = int(pid_file.read_text())
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False


async def test_a_program_s_streams_exit_code_input_and_environment(tmp_path: Path) -> None:
    script = "import os, sys; print(sys.stdin.read() + os.environ['WORD']); print('no', file=sys.stderr); sys.exit(3)"
    done = await run([sys.executable, "-c", script], cwd=tmp_path, timeout_s=10, env={"WORD": "b"}, stdin=b"a")
    assert (done.stdout, done.stderr, done.exit_code, done.timed_out) == ("ab\n", "no\n", 3, False)
    assert not done.ok
    assert done.output == "ab\nno\n"


async def test_a_string_goes_through_the_shell_in_the_given_folder(tmp_path: Path) -> None:
    done = await run("echo $((1 + 2)) && pwd", cwd=tmp_path, timeout_s=10)
    assert done.stdout == f"3\n{tmp_path}\n"
    assert done.command == "echo $((1 + 2)) && pwd"


async def test_input_that_is_never_read_does_not_block(tmp_path: Path) -> None:
    done = await run("exit 0", cwd=tmp_path, timeout_s=10, stdin=b"x" * 1_000_000)
    assert done.ok


async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingRequirement, match="no-such-tool"):
        await run(["no-such-tool", "-x"], cwd=tmp_path, timeout_s=10)


async def test_a_file_that_is_not_executable_is_named(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\n")
    with pytest.raises(MissingRequirement, match="permission denied"):
        await run(["./tool"], cwd=tmp_path, timeout_s=10)


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="no such folder"):
        await run(["true"], cwd=tmp_path / "none", timeout_s=10)


@pytest.mark.slow
async def test_the_time_limit_ends_grandchildren_that_ignore_sigterm(tmp_path: Path) -> None:
    command = "(trap '' TERM; echo started; while :; do sleep 0.1; done) & echo $! > pid; wait"
    started = time.monotonic()
    done = await run(command, cwd=tmp_path, timeout_s=0.3)
    assert (done.exit_code, done.timed_out, done.stdout) == (None, True, "started\n")
    assert time.monotonic() - started < 30
    assert gone(tmp_path / "pid")


async def test_a_normal_exit_ends_a_grandchild_that_holds_the_pipe(tmp_path: Path) -> None:
    started = time.monotonic()
    done = await run("sleep 60 & echo $! > pid; echo done", cwd=tmp_path, timeout_s=30)
    assert (done.exit_code, done.stdout) == (0, "done\n")
    assert time.monotonic() - started < 30
    assert gone(tmp_path / "pid")


async def test_a_daemon_that_left_the_group_does_not_hang_the_call(tmp_path: Path) -> None:
    script = "import os, time; os.setsid(); open('pid', 'w').write(str(os.getpid())); time.sleep(60)"
    command = f'"{sys.executable}" -c "{script}" & while [ ! -s pid ]; do sleep 0.01; done; echo done'
    started = time.monotonic()
    done = await run(command, cwd=tmp_path, timeout_s=30)
    if sys.platform == "linux":
        assert gone(tmp_path / "pid")
    else:
        os.kill(int((tmp_path / "pid").read_text()), 9)
    assert (done.exit_code, done.stdout) == (0, "done\n")
    assert time.monotonic() - started < 30


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="nobody adopts orphans there")
@pytest.mark.parametrize(
    "command",
    [
        "setsid sh -c 'sleep 1.5; echo changed > x' >/dev/null 2>&1 & sleep 0.2",
        "setsid sh -c 'setsid sh -c \"sleep 1.5; echo changed > x\" & sleep 9' >/dev/null 2>&1 & sleep 0.2",
        "(setsid sh -c 'sleep 1.5; echo changed > x' >/dev/null 2>&1 &); sleep 9",
    ],
)
async def test_nothing_is_changed_after_the_call_by_what_left_the_group(tmp_path: Path, command: str) -> None:
    await run(command, cwd=tmp_path, timeout_s=0.4)
    there = (tmp_path / "x").exists()  # on a busy machine the limit is noticed late
    await asyncio.sleep(1.6)
    assert (tmp_path / "x").exists() == there


@pytest.mark.slow
async def test_other_children_and_other_calls_are_left_alone(tmp_path: Path) -> None:
    other = asyncio.create_task(run("sleep 0.5; echo done", cwd=tmp_path, timeout_s=60))
    own = await asyncio.create_subprocess_exec("sleep", "9", start_new_session=True)
    await asyncio.sleep(0.1)
    assert (await run("true", cwd=tmp_path, timeout_s=60)).ok
    assert (await other).stdout == "done\n"
    assert own.returncode is None
    own.kill()
    assert await own.wait() == -9


async def test_cancellation_ends_the_whole_group(tmp_path: Path) -> None:
    task = asyncio.create_task(run("sleep 60 & echo $! > pid; wait", cwd=tmp_path, timeout_s=60))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():  # noqa: ASYNC110 - a file tells it
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert gone(tmp_path / "pid")


async def test_output_keeps_head_and_tail_and_counts_the_middle(tmp_path: Path) -> None:
    script = "import sys; sys.stdout.write('HEAD' + 'é' * 1000 + 'TAIL')"
    done = await run([sys.executable, "-X", "utf8", "-c", script], cwd=tmp_path, timeout_s=10, output_limit=100)
    assert done.stdout == "HEAD" + "é" * 46 + "\n[... 908 characters left out ...]\n" + "é" * 46 + "TAIL"


@pytest.mark.parametrize("limit", [1003, 1004, 1008, 5000])
async def test_output_within_the_limit_is_whole(tmp_path: Path, limit: int) -> None:
    text = "".join(f"{number:04}" for number in range(250)) + "END"
    done = await run(["printf", "%s", text], cwd=tmp_path, timeout_s=10, output_limit=limit)
    assert done.stdout == text


@pytest.mark.slow
async def test_a_flood_of_output_is_held_in_bounded_memory(tmp_path: Path) -> None:
    script = (
        "import asyncio, pathlib, resource\n"
        "from swarmgate.workspace.process.process import run\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        "done = asyncio.run(run('head -c 60000000 /dev/zero', cwd=pathlib.Path('.'), timeout_s=30))\n"
        "print(len(done.stdout), 'left out' in done.stdout, peak() - before)\n"
    )
    done = await run([sys.executable, "-c", script], cwd=tmp_path, timeout_s=60)
    length, cut, grown = done.stdout.split()
    assert int(length) < 201_000
    assert cut == "True"
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(grown) * unit < 20_000_000


async def test_bytes_that_are_not_utf8_are_replaced(tmp_path: Path) -> None:
    done = await run("printf 'a\\377b'", cwd=tmp_path, timeout_s=10)
    assert done.stdout == "a\N{REPLACEMENT CHARACTER}b"


async def test_a_signal_s_number_is_the_exit_code(tmp_path: Path) -> None:
    done = await run("kill -9 $$", cwd=tmp_path, timeout_s=10)
    assert done.exit_code == -9


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc: not Linux")
async def test_a_zombie_of_the_group_is_not_waited_for(tmp_path: Path) -> None:
    # The grandchild ends at once; its parent, which left the group, never reaps it.
    script = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    if os.fork() == 0:\n"
        "        os._exit(0)\n"
        "    os.setsid()\n"
        "    os.close(1), os.close(2)\n"
        "    time.sleep(30)\n"
        "    os._exit(0)\n"
        "time.sleep(0.2)\n"
    )
    done = await run([sys.executable, "-c", script], cwd=tmp_path, timeout_s=20)
    assert done.ok
    assert done.seconds < 15


async def test_a_call_that_is_cancelled_while_it_starts_ends_and_leaves_nothing(tmp_path: Path) -> None:
    for turn in range(12):
        mark = tmp_path / f"pid{turn}"
        task = asyncio.create_task(run(f"echo $$ > {mark}; sleep 30", cwd=tmp_path, timeout_s=60))
        for _ in range(turn % 4 + 1):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 10)
        assert not mark.exists() or not mark.read_text() or gone(mark)


_SLOWLY = """
import time
while time.process_time() < 0.25:
    turn = time.process_time()
    while time.process_time() - turn < 0.01:
        pass
    time.sleep(0.03)
"""
"""Computes a quarter of the time, as on a machine on which others compute too."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="no other system tells what a program uses")
@pytest.mark.parametrize(("limit", "late"), [(0.4, False), (0.1, True)])
async def test_a_program_that_is_at_work_has_its_limit_of_the_processor(
    tmp_path: Path, limit: float, *, late: bool
) -> None:
    argv = [sys.executable, "-I", "-c", _SLOWLY]
    assert (await run(argv, cwd=tmp_path, timeout_s=limit, while_at_work=True)).timed_out is late
    assert (await run(argv, cwd=tmp_path, timeout_s=0.1)).timed_out


async def test_a_program_that_does_nothing_is_ended_at_its_limit(tmp_path: Path) -> None:
    started = time.monotonic()
    assert (await run("sleep 60", cwd=tmp_path, timeout_s=0.1, while_at_work=True)).timed_out
    assert time.monotonic() - started < 20


@pytest.mark.skipif(sys.platform != "linux", reason="no other system tells what a program waits for")
@pytest.mark.parametrize(
    ("doing", "starves"), [("sum(0 for _ in iter(int, 1))", True), ("import time; time.sleep(60)", False)]
)
def test_what_would_go_on_if_it_had_a_processor(doing: str, *, starves: bool) -> None:
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); {doing}'])"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as outer:
        assert outer.stdout is not None
        outer.stdout.readline()
        try:
            below = table.descendants(outer.pid)
            until = time.monotonic() + 30
            while table.starves(outer.pid) is not starves and time.monotonic() < until:
                time.sleep(0.01)
            assert below
            assert table.starves(outer.pid) is starves
        finally:
            os.killpg(outer.pid, signal.SIGKILL)
