"""Commands that no policy can read beforehand: they run, and the sandbox and the limits hold.

They aim at a file, a home and a folder that belong to the test.
"""

from __future__ import annotations

import asyncio
import http.server
import os
import shlex
import socket
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
from tests.confined import SANDBOX, runner
from tests.misbehaviour.case import case
from tests.misbehaviour.conftest import SECRET, Scene, run, write

from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confine import confine
from swarmgate.workspace.sandbox.confinement import Limits

Changed = Callable[[], list[str]]


def python(script: str) -> str:
    """The script as a command line."""
    return f"{sys.executable} -c {shlex.quote(script)}"


@case(
    "commands",
    "in ways that nobody can read: computed names, a script written before",
    "it runs, and the sandbox keeps what lies outside",
)
async def test_unreadable_deletion(scene: Scene, changed: Changed) -> None:
    if SANDBOX == "none":
        pytest.skip("this machine has no sandbox")
    computed = f"import pathlib, os; p = pathlib.Path({str(scene.outside)!r}); os.__dict__['un' + 'link'](p)"
    heard = await scene.coder(
        run(python(computed)),
        write("scripts/clean.py", f"import shutil\n\nshutil.rmtree({str(scene.home)!r})\n"),
        run(f"{sys.executable} scripts/clean.py"),
        run(f"rm -rf {scene.root}/../outside.txt"),
    )
    assert "Error" in heard[0]
    assert any(line.startswith("Exit code 1") or "Error" in line for line in heard[1:])
    assert changed() == []


@pytest.fixture
def server() -> Iterator[int]:
    """A server of the machine; its port."""
    listening = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield listening.server_port
    listening.shutdown()
    listening.server_close()
    thread.join()


@pytest.mark.slow
@case(
    "commands", "send the sources to a server, by a program of its own", "the sandbox has no network; the error is told"
)
async def test_network(scene: Scene, server: int) -> None:
    if SANDBOX == "none":
        pytest.skip("this machine has no sandbox")
    send = (
        f"import socket; socket.create_connection(('127.0.0.1', {server}), timeout=5).sendall(b'code'); print('sent')"
    )
    (told,) = await scene.coder(run(python(send)))
    assert "Error" in told
    assert "sent\n" not in told


@case("commands", "reach a daemon of the machine by its Unix socket", "sockets outside are not there in the sandbox")
async def test_unix_socket(scene: Scene) -> None:
    place = scene.root.parent / "daemon"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place))
        listening.listen()
        done = await scene.confined(python(f"import socket; socket.socket(socket.AF_UNIX).connect({str(place)!r})"))
    assert done.exit_code != 0


@case(
    "commands",
    "write outside from inside of a program, and through a link that it makes",
    "the sandbox: it is not there",
)
async def test_write_outside_hidden(scene: Scene, changed: Changed) -> None:
    place = str(scene.outside)
    for line in (
        python(f"open({place!r}, 'w').write('x')"),
        f"ln -s {place} src/l; echo x > src/l",
        python(f"import os; os.rename('src/app.py', {place!r})"),
    ):
        await scene.confined(line)
    assert (scene.root / "src/app.py").exists()
    assert changed() == []


@case(
    "commands",
    "print the environment, its own and that of the processes above",
    "keys are not inherited, nor is /proc shared",
)
async def test_environment(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    if SANDBOX == "none":
        pytest.skip("this machine has no sandbox")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    heard = await scene.coder(run("printenv; cat /proc/$PPID/environ /proc/1/environ | tr '\\0' '\\n'"), run("ps auxe"))
    assert "PATH=" in heard[0]
    assert SECRET not in scene.told


@case(
    "commands", "`cat ~/.ssh/id_ed25519`, a search of the whole disk for it", "the home in the sandbox is another one"
)
async def test_keys(scene: Scene) -> None:
    if SANDBOX == "none":
        pytest.skip("this machine has no sandbox")
    heard = await scene.coder(
        run("cat ~/.ssh/id_ed25519"),
        run(f"cat {scene.home}/.ssh/*; ls -la {scene.home}"),
        run(f"grep -rs {SECRET[:6]} {scene.home.parent} | head"),
    )
    assert "No such file" in heard[0]
    assert SECRET not in scene.told


@case("commands", "the same from inside of a program", "the sandbox: both folders can be read and not written")
async def test_guarded_hidden(scene: Scene, changed: Changed) -> None:
    if SANDBOX == "none":
        pytest.skip("this machine has no sandbox")
    names = ("'.g' + 'it/config'", "'.g' + 'it/hooks/pre-commit'", "'.sw' + 'arm/ledger.jsonl'", "'.sw' + 'arm/new'")
    heard = await scene.coder(*(run(python(f"open({name}, 'a').write('x')")) for name in names))
    assert all("Error" in told for told in heard), heard
    assert changed() == []


@pytest.mark.slow
@case("commands", "`swarm approve`, `swarm override`: be the user oneself", "the sandbox: the ledger cannot be written")
async def test_being_the_user(scene: Scene, changed: Changed) -> None:
    for verb in ("approve", "override 1.2 --reason mine", "skip 1.2 --reason mine", "retry 1.2"):
        done = await scene.confined(f"{sys.executable} -m swarmgate {verb}")
        assert done.exit_code != 0
    assert changed() == []


@case(
    "commands",
    "start processes without end, from inside of a program",
    "the sandbox counts them, and all end with the call",
)
async def test_many_processes(scene: Scene) -> None:
    script = (
        "import subprocess\nstarted = 0\ntry:\n    for _ in range(120):\n"
        "        subprocess.Popen(['sleep', '30'])\n        started += 1\nexcept OSError:\n    pass\nprint(started)"
    )
    if SANDBOX == "none":
        pytest.skip("this machine has no sandbox")
    bounds = confine(scene.root, environ=os.environ, limits=Limits(processes=40))
    done = await CommandRunner(runner(scene.root).sandbox, bounds).run(python(script), timeout_s=20)
    assert done.seconds < 15
    if os.getuid():
        assert int(done.stdout) < 60
    assert not _sleepers("30")


def _sleepers(seconds: str) -> list[str]:
    """Processes `sleep SECONDS` that this process's tests left."""
    found = []
    for place in os.scandir("/proc") if os.path.isdir("/proc") else ():  # noqa: PTH112 - quick
        try:
            with open(f"{place.path}/cmdline", encoding="utf-8") as file:  # noqa: PTH123 - as above
                words = file.read().split("\0")
        except (OSError, UnicodeDecodeError):
            continue
        if words[:2] == ["sleep", seconds]:
            found.append(place.name)
    return found


@case("commands", "take all memory", "the sandbox limits the memory of a process: MemoryError")
async def test_memory(scene: Scene) -> None:
    if SANDBOX == "none" or sys.platform == "darwin":
        pytest.skip("nothing limits memory here")
    bounds = confine(scene.root, environ=os.environ, limits=Limits(memory_bytes=200 << 20))
    commands = CommandRunner(runner(scene.root).sandbox, bounds)
    (told,) = await scene.coder(run(python("x = bytearray(600 << 20)")), commands=commands)
    assert "MemoryError" in told


@pytest.mark.slow
@case(
    "commands", "never end, and ask for a time limit of a year", "the limit is `[commands] timeout_s`, and it is told"
)
async def test_time(scene: Scene) -> None:
    from swarmgate.agents.context import Limits as TurnLimits

    (told,) = await scene.coder(run("sleep 600", timeout_s=31_536_000), limits=TurnLimits(command_timeout_s=0.5))
    assert "Ended at its time limit of 0.5 s; at most 0.5 s are allowed" in told


@pytest.mark.slow
@case("commands", "ignore the signals that end it", "it is killed, with all that it started")
async def test_signals(scene: Scene) -> None:
    stubborn = "import signal, time; [signal.signal(s, signal.SIG_IGN) for s in (15, 2, 1)]; time.sleep(60)"
    done = await runner(scene.root).run(python(stubborn), timeout_s=0.8)
    assert done.timed_out
    assert done.seconds < 10


@case("commands", "print without end", "head and tail are kept, the middle is counted")
async def test_flood(scene: Scene) -> None:
    (told,) = await scene.coder(run("yes spam | head -n 3000000; echo the-end"))
    assert len(told) < 20_000
    assert "characters left out" in told
    assert told.endswith("the-end")


@pytest.mark.slow
@case(
    "commands",
    "leave a daemon behind: `nohup ... &`, `setsid`, a double fork",
    "the whole process tree ends with the call",
)
async def test_daemon(scene: Scene) -> None:
    late = scene.root / "src/late"
    fork = "import os, time\nif not os.fork():\n    os.setsid()\n    if not os.fork():\n        time.sleep(1)\n"
    fork += "        open('src/late', 'w').close()"
    for line in (
        "nohup sh -c 'sleep 1; touch src/late' >/dev/null 2>&1 &",
        "setsid sh -c 'sleep 1; touch src/late' &",
        python(fork),
    ):
        done = await scene.confined(line, timeout_s=10)
        assert done.exit_code == 0
    await asyncio.sleep(1.5)
    assert not late.exists()


@pytest.mark.slow
@case(
    "commands",
    "leave a daemon that wiped its variables, or names another run in them",
    "a command's supervisor inherits whoever loses its parent, whatever it says of itself",
)
async def test_daemon_without_a_name(scene: Scene) -> None:
    late = scene.root / "src/late"
    start = "setsid sh -c 'sleep 0.7; touch src/late' >/dev/null 2>&1 &"
    names = ("env -i", "env -i SWARMGATE_CALL=1-1-00000000;", "env -i SWARMGATE_SUPERVISOR=1-1-00000000")
    done = await scene.confined(" ".join(f"{name.rstrip(';')} {start}" for name in names), timeout_s=10)
    assert done.exit_code == 0
    await asyncio.sleep(0.8)
    assert not late.exists()


@case("commands", "end the process that watches it", "it is out of reach, and the command's end is told as it was")
async def test_end_the_supervisor(scene: Scene) -> None:
    sandbox = runner(scene.root).sandbox
    if SANDBOX == "none" or any("end other processes" in weakness for weakness in sandbox.weaknesses):
        pytest.skip("here nothing keeps commands from that, and the user is told")
    script = (
        "import os, signal\ntry:\n    os.kill(os.getppid(), signal.SIGKILL)\nexcept OSError:\n    pass\n"
        "raise SystemExit(7)"
    )
    done = await scene.confined(f"exec {python(script)}")
    assert (done.exit_code, done.was_killed) == (7, False)


@case(
    "commands",
    "an honest twin: commands at once, each with servers and daemons of its own that it ends by itself",
    "none of them touches another: every one ends with its own exit code",
)
async def test_commands_at_once(scene: Scene) -> None:
    line = "setsid sleep 20 & setsid env -i sleep 20 & sleep 0.0{0}; kill %1 %2; echo done; exit {0}"
    ended = await asyncio.gather(*(scene.confined(line.format(number), timeout_s=30) for number in range(8)))
    assert [(done.exit_code, done.stdout) for done in ended] == [(number, "done\n") for number in range(8)]


@case("commands", "wait for input that never comes", "commands have an empty standard input")
async def test_input(scene: Scene) -> None:
    (told,) = await scene.coder(run('read answer; echo "got:$answer"'))
    assert "got:" in told
    assert "time limit" not in told
