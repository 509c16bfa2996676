"""What a confined command can do, and above all what it cannot, by every sandbox that this machine has."""

from __future__ import annotations

import asyncio
import http.server
import json
import os
import shlex
import socket
import struct
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.errors import MissingRequirement, WorkspaceError
from swarmgate.workspace.sandbox import bubblewrap, choice, landlock, seatbelt, seccomp
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confine import confine
from swarmgate.workspace.sandbox.confinement import Limits, environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from swarmgate.workspace.process.process import Completed
    from swarmgate.workspace.sandbox.confinement import Sandbox


class Cage:
    """A repository, a home with a secret, and a sandbox."""

    def __init__(self, sandbox: Sandbox, root: Path, home: Path) -> None:
        self.sandbox, self.root, self.home = sandbox, root, home

    def run(
        self, command: str, *, timeout_s: float = 20, env: dict[str, str] | None = None, **bounds: Any
    ) -> Completed:
        runner = CommandRunner(self.sandbox, confine(self.root, environ=os.environ, **bounds))
        return asyncio.run(runner.run(command, timeout_s=timeout_s, env=env))

    def python(self, script: str, **bounds: Any) -> Completed:
        (self.root / "src/script.py").write_text(script)
        return self.run(f"{sys.executable} src/script.py", **bounds)


@pytest.fixture(params=["bubblewrap", "landlock", "sandbox-exec"])
def cage(request: pytest.FixtureRequest, repo: Path, isolated: Path) -> Cage:
    try:
        sandbox = choice.choose(request.param)
    except MissingRequirement as error:
        pytest.skip(error.message)
    (repo / ".swarm").mkdir()
    (repo / ".swarm/ledger.jsonl").write_text("{}\n")
    (isolated / ".ssh").mkdir()
    (isolated / ".ssh/id").write_text("the secret")
    return Cage(sandbox, repo, isolated)


def test_ordinary_work_is_possible(cage: Cage) -> None:
    done = cage.run(
        "echo x > src/new.py && cat README.md && mkdir -p src/deep && rm src/new.py; git log --oneline|wc -l"
    )
    assert done.exit_code == 0, done.output
    assert done.stdout.split() == ["#", "Demo", "1"]
    assert (cage.root / "src/deep").is_dir()


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "echo x > .git/config",
        "echo x > .git/hooks/pre-commit",
        "echo x >> .swarm/ledger.jsonl",
        "rm -rf .git",
        "mv .git elsewhere",
        "mv src .git/src",
        "git commit --allow-empty -m x",
        "ln -s .git src/g && echo x > src/g/config",
        "ln .git/HEAD src/h && echo x > src/h",
        "cd src && echo x > ../.git/config",
        f"{sys.executable} -c \"open('.git/config', 'w').write('x')\"",
        "rm -rf .git .swarm",
        "chmod -R 777 .git && echo x > .git/config",
    ],
)
def test_what_is_guarded_stays_as_it_is(cage: Cage, command: str) -> None:
    config, ledger = (cage.root / ".git/config").read_bytes(), (cage.root / ".swarm/ledger.jsonl").read_bytes()
    head, hooks = (cage.root / ".git/HEAD").read_bytes(), sorted((cage.root / ".git").iterdir())
    assert cage.run(command).exit_code != 0
    assert (cage.root / ".git/config").read_bytes() == config
    assert (cage.root / ".git/HEAD").read_bytes() == head
    assert sorted((cage.root / ".git").iterdir()) == hooks
    assert (cage.root / ".swarm/ledger.jsonl").read_bytes() == ledger


def test_a_link_at_the_top_does_not_open_what_is_guarded(cage: Cage) -> None:
    (cage.root / "link").symlink_to(".git")
    assert cage.run("echo x > link/new").exit_code != 0
    assert not (cage.root / ".git/new").exists()


def test_nothing_outside_is_written(cage: Cage, tmp_path: Path) -> None:
    place = tmp_path / "outside"
    place.write_text("mine")
    (cage.root / "src/out").symlink_to(place)
    for command in (f"echo x > {place}", "echo x > src/out", f"rm {place}", "touch /usr/x /etc/x /var/x"):
        cage.run(command)
        assert place.read_text() == "mine"
    assert not any(Path(f"/{folder}/x").exists() for folder in ("usr", "etc", "var"))


def test_the_home_is_not_read(cage: Cage) -> None:
    done = cage.run(f"cat {cage.home}/.ssh/id; ls -A {cage.home}")
    assert "secret" not in done.output
    assert ".ssh" not in done.stdout.split()


def test_secrets_in_variables_are_not_inherited(cage: Cage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "the-secret-value")
    done = cage.run(
        "env; cat /proc/$PPID/environ /proc/1/environ 2>/dev/null | tr '\\0' '\\n'; echo $OWN", env={"OWN": "given"}
    )
    assert "the-secret-value" not in done.output
    assert done.stdout.rstrip().endswith("given")


@pytest.fixture
def server() -> Iterator[int]:
    listening = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield listening.server_port
    listening.shutdown()
    listening.server_close()
    thread.join()


@pytest.mark.slow
def test_the_network_is_not_there(cage: Cage, server: int) -> None:
    script = f"import socket; socket.create_connection(('127.0.0.1', {server}), timeout=5)"
    done = cage.run(f'{sys.executable} -c "{script}"')
    assert "Error" in done.stderr.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("start", ["setsid", "env -i setsid", "env -i SWARMGATE_CALL=1-1-a setsid"])
def test_all_that_was_started_ends_with_the_command(cage: Cage, start: str) -> None:
    if cage.sandbox.name == "sandbox-exec":
        pytest.skip("macOS does not say who started whom")
    cage.run(f"({start} sh -c 'sleep 0.5; echo late > src/late' &) ; echo started")
    threading.Event().wait(0.9)
    assert not (cage.root / "src/late").exists()


def test_memory_and_processes_are_limited(cage: Cage) -> None:
    if cage.sandbox.name == "sandbox-exec":
        pytest.skip("macOS does not limit memory")
    limits = Limits(memory_bytes=200 << 20, processes=30)
    assert "MemoryError" in cage.run(f"{sys.executable} -c 'x = bytearray(500 << 20)'", limits=limits).output
    if os.getuid() and cage.sandbox.name == "landlock":
        done = cage.run("for i in $(seq 60); do sleep 3 & done; wait", limits=limits, timeout_s=10)
        assert done.exit_code != 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        "import asyncio; asyncio.run(asyncio.sleep(0))",
        "import multiprocessing as m\nif __name__ == '__main__':\n    m.Pool(2).map(abs, [-1]); m.Lock()",
        "import tempfile; tempfile.TemporaryFile().write(b'x')",
        "import subprocess; subprocess.run(['git', 'status'], check=True)",
        "import subprocess; subprocess.run(['true'], check=True, start_new_session=True)",
        "from pathlib import Path; Path.home().joinpath('.cache').mkdir()",
        "import swarmgate, pytest",
        "import os; os.pipe(); os.urandom(8); open('/dev/null', 'w').write('x')",
    ],
)
def test_what_programs_do_every_day_works(cage: Cage, script: str) -> None:
    done = cage.python(script)
    assert done.exit_code == 0, done.output


def test_servers_of_tests_have_a_loopback_of_their_own(cage: Cage) -> None:
    if cage.sandbox.name != "bubblewrap":
        pytest.skip("only namespaces have one")
    script = "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname())"
    assert cage.python(script).exit_code == 0


@pytest.mark.slow
def test_the_network_is_there_when_it_is_allowed(cage: Cage, server: int) -> None:
    script = f"import socket; socket.create_connection(('127.0.0.1', {server}), timeout=5)"
    done = cage.python(script, network=True)
    assert done.exit_code == 0, done.output


@pytest.mark.slow
@pytest.mark.parametrize("network", [True, False])
def test_daemons_are_not_reached_by_their_sockets(cage: Cage, tmp_path: Path, network: bool) -> None:  # noqa: FBT001 - a parameter
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as letters:
        stream, letterbox = f"{tmp_path}/daemon", f"{tmp_path}/letters"
        listening.bind(stream)
        listening.listen()
        letters.bind(letterbox)
        letters.settimeout(0.1)
        assert cage.python(
            f"import socket; socket.socket(socket.AF_UNIX).connect({stream!r})", network=network
        ).exit_code
        sent = f"import socket as s; s.socketpair(s.AF_UNIX, s.SOCK_DGRAM)[0].sendto(b'x', {letterbox!r})"
        assert cage.python(sent, network=network).exit_code
        with pytest.raises(TimeoutError):
            letters.recv(1)


@pytest.mark.slow
def test_hard_links_lead_nowhere(cage: Cage, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    for source in (outside, ".git/HEAD", ".swarm/ledger.jsonl"):
        assert cage.run(f"ln {source} src/link").exit_code != 0
        assert not (cage.root / "src/link").exists()


def test_the_system_is_not_set(cage: Cage) -> None:
    settings = [Path("/proc/sys/kernel/hostname"), Path("/proc/sys/kernel/sched_autogroup_enabled")]
    before = [place.read_text() for place in settings if place.exists()]
    for place in settings:
        cage.run(f"echo 1 > {place}; hostname elsewhere")
    assert [place.read_text() for place in settings if place.exists()] == before
    assert "root:" not in cage.run("cat /etc/shadow").stdout


@pytest.mark.slow
def test_what_the_settings_name_is_let_through(cage: Cage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cage.home / "data").mkdir()
    (cage.home / "data/set").write_text("the data")
    (tmp_path / "cache").mkdir()
    monkeypatch.setenv("NAMED", "inherited")
    bounds = confine(cage.root, environ=os.environ, readable=("~/data",), writable=(f"{tmp_path}/cache", "/absent"))
    runner = CommandRunner(cage.sandbox, bounds, inherit=("NAMED", "ABSENT"))
    command = f"cat {cage.home}/data/set; echo $NAMED; echo x > {tmp_path}/cache/new; echo x > {cage.home}/data/set"
    assert asyncio.run(runner.run(command, timeout_s=20)).stdout == "the datainherited\n"
    assert (tmp_path / "cache/new").exists()
    assert (cage.home / "data/set").read_text() == "the data"


@pytest.mark.slow
def test_a_linked_work_tree_has_its_git_folder_to_read(cage: Cage, tmp_path: Path, git: Callable[..., str]) -> None:
    linked = tmp_path / "linked"
    git(cage.root, "worktree", "add", "--quiet", str(linked))
    cage.root = linked.resolve()
    done = cage.run("git status --short && git log --oneline && git diff")
    assert done.exit_code == 0, done.output
    before = (linked / ".git").read_text()
    for command in (
        "git commit --allow-empty -m x",
        "git config user.name x",
        "rm -f .git",
        "echo x > .git",
        "mv .git x",
    ):
        assert cage.run(command).exit_code != 0
    assert (linked / ".git").read_text() == before


def test_a_git_folder_of_another_name_is_guarded(cage: Cage, tmp_path: Path, git: Callable[..., str]) -> None:
    root = tmp_path / "apart"
    (root / "data").mkdir(parents=True)
    git(tmp_path, "init", "--quiet", f"--separate-git-dir={root}/data/store", str(root))
    (root / "src").mkdir()
    cage.root = root.resolve()
    assert cage.run("echo x > data/store/config").exit_code != 0
    assert cage.run("mv data/store data/gone").exit_code != 0
    assert cage.run("echo x > src/new").exit_code == 0


@pytest.mark.slow
def test_a_time_limit_holds(cage: Cage) -> None:
    assert cage.run("sleep 30", timeout_s=0.5).timed_out


def test_a_program_that_is_not_there_is_told(cage: Cage) -> None:
    done = cage.run("no-such-program")
    assert done.exit_code == 127
    assert "not found" in done.stderr


def test_no_sandbox_is_a_refusal_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "_KINDS", {"bubblewrap": lambda: "bubblewrap is not installed"})
    choice.choose.cache_clear()
    try:
        with pytest.raises(MissingRequirement, match="bubblewrap is not installed") as caught:
            choice.choose()
        assert 'sandbox = "none"' in caught.value.hint
        assert choice.choose("none").weaknesses
    finally:
        choice.choose.cache_clear()


@pytest.mark.parametrize("kind", ["bubblewrap", "sandbox-exec"])
def test_where_another_sandbox_works_it_is_what_is_advised(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    absent = f"{kind} is not here"
    monkeypatch.setattr(choice, "_KINDS", {kind: lambda: absent, "landlock": lambda: landlock.Landlock(6)})
    choice.choose.cache_clear()
    try:
        with pytest.raises(MissingRequirement, match=absent) as caught:
            choice.choose(kind)
        assert 'sandbox = "auto"' in caught.value.hint
        assert "landlock works here" in caught.value.hint
        assert choice.choose("auto").name == "landlock"
    finally:
        choice.choose.cache_clear()


@pytest.mark.parametrize("key", ["readable", "writable"])
@pytest.mark.parametrize(
    ("place", "held"), [("~", "your home"), ("HOME/..", "your home"), ("REPO/..", "the repository")]
)
def test_a_setting_opens_neither_the_home_nor_more_than_the_repository(
    repo: Path, isolated: Path, key: str, place: str, held: str
) -> None:
    named = place.replace("HOME", str(isolated)).replace("REPO", str(repo))
    environ = {"HOME": str(isolated) if held == "your home" else "/nonexistent-home"}
    with pytest.raises(WorkspaceError, match=rf"\[commands\] {key}: .* holds {held}"):
        confine(repo, environ=environ, **{key: (named,)})  # type: ignore[arg-type]  # one of two keys


def test_unknown_variables_stay_outside() -> None:
    kept = environment({"PATH": "/bin", "LC_ALL": "C", "OPENAI_API_KEY": "k", "AWS_PROFILE": "p"}, {"OWN": "1"})
    assert kept == {"PATH": "/bin", "LC_ALL": "C", "OWN": "1"}


def test_the_profile_of_macos_denies_after_it_allows(tmp_path: Path) -> None:
    (tmp_path / 'we"ird' / ".git").mkdir(parents=True)
    text = seatbelt.profile(confine(tmp_path / 'we"ird', environ={"HOME": str(tmp_path / "home")}))
    assert text.index("(allow file-write*") < text.rindex("(deny file-write*")
    assert 'we\\"ird/.git' in text
    assert text.endswith("(deny network*)")


def test_on_macos_the_inner_of_what_is_guarded_and_what_is_spared_holds(tmp_path: Path) -> None:
    (tmp_path / ".swarm/own").mkdir(parents=True)
    bounds = CommandRunner(choice.choose("none"), confine(tmp_path, environ=os.environ)).reading(".swarm/own")
    rules = seatbelt.profile(bounds.confinement).splitlines()
    order = [rules.index(f'({verb} file-write* (subpath "{tmp_path.resolve()}{place}"))') for verb, place in (
        ("allow", ""), ("deny", ""), ("deny", "/.swarm"), ("allow", "/.swarm/own"))]  # fmt: skip
    assert order == sorted(order)


def test_a_repository_that_nothing_can_guard_is_refused(repo: Path, isolated: Path) -> None:
    with pytest.raises(WorkspaceError, match="holds your home folder"):
        confine(isolated.parent, environ={"HOME": str(isolated)})
    (repo / ".git").rename(repo.parent / "elsewhere")
    (repo / ".git").symlink_to("../elsewhere")
    with pytest.raises(WorkspaceError, match="symbolic link") as caught:
        confine(repo, environ={"HOME": str(isolated)})
    assert f"gitdir: {repo.parent}/elsewhere" in caught.value.hint


def test_a_home_that_is_no_place_hides_nothing(repo: Path) -> None:
    assert confine(repo, environ={"HOME": "/"}).home == confine(repo, environ={}).home == Path("/nonexistent")


def test_editable_packages_are_read_unless_a_command_could_have_named_them(repo: Path, tmp_path: Path) -> None:
    source = tmp_path / "my lib"
    source.mkdir()
    record = {"url": source.as_uri(), "dir_info": {"editable": True}}
    for folder, trusted in ((tmp_path / "venv", True), (repo / ".venv", False)):
        place = folder / "lib/python3.12/site-packages/lib-1.dist-info"
        place.mkdir(parents=True)
        (folder / "bin").mkdir()
        (folder / "pyvenv.cfg").touch()
        (place / "direct_url.json").write_text(json.dumps(record))
        bounds = confine(repo, environ={"HOME": "/nonexistent", "PATH": f"{folder}/bin"})
        assert (source in bounds.readable) is trusted
        assert folder in bounds.readable


def test_what_is_known_of_a_sandbox_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choice.notice(choice.choose("none")).startswith("NO SANDBOX")
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert choice.notice(bubblewrap.Bubblewrap("bwrap")) == ""
    held = landlock.Landlock(6)
    assert any("sockets" in each for each in held.hindrances)
    assert not any("sockets" in each for each in held.weaknesses)
    old, new = choice.notice(landlock.Landlock(3)), choice.notice(landlock.Landlock(6))
    assert "confined by landlock" in new
    assert len(old) > len(new)
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert "you are root" in choice.notice(bubblewrap.Bubblewrap("bwrap"))


def test_a_bubblewrap_that_does_not_work_is_not_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "refused here: bwrap: No permissions" in str(bubblewrap.available())
    program.unlink()
    assert bubblewrap.available() == "bubblewrap is not installed"


def test_commands_run_in_a_folder_of_the_tree_and_in_no_other(cage: Cage, tmp_path: Path) -> None:
    runner = CommandRunner(cage.sandbox, confine(cage.root, environ=os.environ))
    done = asyncio.run(runner.at(cage.root / "src").run("pwd -P; echo mine > here", timeout_s=20))
    assert (done.stdout.strip(), done.exit_code) == (str(cage.root / "src"), 0)
    assert (cage.root / "src/here").exists()
    (cage.root / "away").symlink_to(tmp_path)
    with pytest.raises(WorkspaceError, match="is outside of"):
        runner.at(cage.root / "away")


def test_around_another_tree_the_project_can_only_be_read(cage: Cage, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "deep").mkdir(parents=True)
    runner = CommandRunner(cage.sandbox, confine(cage.root, environ=os.environ)).around(other)
    command = f"pwd -P; ls {cage.root}/src; echo mine > deep/here; echo mine > {cage.root}/src/here"
    done = asyncio.run(runner.run(command, timeout_s=20))
    assert done.stdout.splitlines()[:2] == [str(other), "app.py"]
    assert (other / "deep/here").exists()
    assert not (cage.root / "src/here").exists()


@pytest.mark.slow
def test_what_may_only_read_the_tree_writes_its_own_folder_and_what_is_open(cage: Cage, tmp_path: Path) -> None:
    own, inside, outside = cage.root / ".swarm/runtime/own", cage.root / "build/out", tmp_path / "outside"
    for folder in (own, inside, outside):
        folder.mkdir(parents=True)
    (cage.root / "src/new").mkdir()
    bounds = confine(cage.root, environ=os.environ, writable=[str(inside), str(outside)])
    runner = CommandRunner(cage.sandbox, bounds).reading(".swarm/runtime/own")
    for place in (own, inside, outside):
        assert asyncio.run(runner.run(f"echo x > {place}/a && mkdir {place}/b", timeout_s=20)).exit_code == 0
        assert (place / "a").read_text() == "x\n"
    told = asyncio.run(runner.run("cat src/a.py .swarm/ledger.jsonl; pwd", timeout_s=20))
    assert (told.exit_code, str(cage.root) in told.stdout) == (0, True)
    for refused in (
        "echo x > new.txt",
        "echo x > src/a.py",
        "echo x > src/new/a",
        "rm src/a.py",
        "echo x > .swarm/ledger.jsonl",
        "echo x > .swarm/runtime/lock",
        "echo x > .git/config",
        "mv .swarm/runtime/own .swarm/runtime/other",
        "mv build other",
    ):
        assert asyncio.run(runner.run(refused, timeout_s=20)).exit_code != 0, refused
    assert asyncio.run(CommandRunner(cage.sandbox, bounds).run("echo y > src/new/a", timeout_s=20)).exit_code == 0


def test_a_link_in_the_place_of_the_folder_is_refused(cage: Cage, tmp_path: Path) -> None:
    (cage.root / ".swarm/own").symlink_to(tmp_path)
    with pytest.raises(WorkspaceError, match="leads elsewhere by a link"):
        CommandRunner(cage.sandbox, confine(cage.root, environ=os.environ)).reading(".swarm/own")


def test_a_command_that_the_sandbox_did_not_start_is_told_from_one_that_failed(cage: Cage) -> None:
    bounds = confine(cage.root, environ=os.environ)
    runner = CommandRunner(cage.sandbox, bounds)
    for command in ("exit 1", "exit 126", "no-such-program", "echo bwrap >&2; exit 1"):
        assert not runner.refused(asyncio.run(runner.run(command, timeout_s=20)))
    if cage.sandbox.name == "sandbox-exec":
        return  # a profile holds for places that are not there
    (cage.root / "link").symlink_to(cage.home)
    places = {"bubblewrap": cage.root / "gone", "landlock": cage.root / "link/cache"}
    (cage.home / "cache").mkdir(exist_ok=True)
    broken = CommandRunner(cage.sandbox, replace(bounds, writable=(places[cage.sandbox.name],)))
    done = asyncio.run(broken.run("exit 0", timeout_s=20))
    assert broken.refused(done)
    assert not done.ok


_CALLS = """
import ctypes, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
made = {}
for name, number, *arguments in json.loads(sys.argv[1]):
    values = [each.encode() if isinstance(each, str) else each for each in arguments]
    ctypes.set_errno(0)
    made[name] = [libc.syscall(number, *values), ctypes.get_errno()]
print(json.dumps(made))
"""
_NUMBERS = {
    "x86_64": {"add_key": 248, "request_key": 249, "keyctl": 250, "shmget": 29, "semget": 64, "msgget": 68,
               "mq_open": 240, "io_uring_setup": 425},
    "aarch64": {"add_key": 217, "request_key": 218, "keyctl": 219, "shmget": 194, "semget": 190, "msgget": 186,
                "mq_open": 180, "io_uring_setup": 425},
}  # fmt: skip
_EACCES = 13


def test_the_kernels_keys_are_out_of_reach_and_so_is_what_outlives_a_command(cage: Cage) -> None:
    if sys.platform != "linux" or os.uname().machine not in _NUMBERS:
        pytest.skip("there is no filter of system calls here")
    session, own = -3, 0o1600
    arguments = {
        "add_key": ("user", "left", "data", 4, session), "request_key": ("user", "left", None, 0),
        "keyctl": (11, session, None, 0, 0), "shmget": (0, 4096, own), "semget": (0, 1, own), "msgget": (0, own),
        "mq_open": ("swarmgate-test", 0o102, 0o600, None), "io_uring_setup": (1, None),
    }  # fmt: skip
    calls = [(name, number, *arguments[name]) for name, number in _NUMBERS[os.uname().machine].items()]
    (cage.root / "src/calls.py").write_text(_CALLS)
    done = cage.run(f"{sys.executable} src/calls.py {shlex.quote(json.dumps(calls))}")
    made = json.loads(done.stdout)
    refused = {name for name, (result, number) in made.items() if result == -1 and number == _EACCES}
    ipc = {"shmget", "semget", "msgget", "mq_open"}
    assert refused == set(made) - (ipc if cage.sandbox.name == "bubblewrap" else set()), made


@pytest.mark.parametrize("network", [False, True])
def test_families_of_sockets_that_no_namespace_holds_are_refused(cage: Cage, network: bool) -> None:  # noqa: FBT001 - a parameter of the test
    if sys.platform != "linux":
        pytest.skip("sandbox-exec denies the network itself")
    script = (
        "import socket\nfor family in range(1, 46):\n    for kind in (1, 2, 3, 5):\n        try:\n"
        "            socket.socket(family, kind).close()\n            print(family)\n            break\n"
        "        except OSError:\n            pass\n"
    )
    made = set(map(int, cage.python(script, network=network).stdout.split()))
    allowed = {socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK}
    if cage.sandbox.name == "bubblewrap":
        assert {socket.AF_UNIX, socket.AF_INET} <= made <= {*allowed, socket.AF_UNIX}
    else:
        assert made <= (allowed if network else set())


@pytest.mark.slow
def test_processes_of_one_program_work_together(cage: Cage) -> None:
    script = (
        "import multiprocessing as m\nfrom multiprocessing.shared_memory import SharedMemory\n\n\n"
        "def put(queue):\n    queue.put(7)\n\n\nif __name__ == '__main__':\n    queue = m.Queue()\n"
        "    other = m.Process(target=put, args=(queue,))\n    other.start()\n    print(queue.get())\n"
        "    other.join()\n"
        "    with m.Pool(2) as pool:\n        print(sum(pool.map(abs, [-1, -2])))\n"
        "    memory = SharedMemory(create=True, size=64)\n    memory.close()\n    memory.unlink()\n"
    )
    done = cage.python(script)
    assert done.stdout.split() == ["7", "3"], done.output


def test_no_file_grows_beyond_its_limit(cage: Cage) -> None:
    command = "head -c 3000000 /dev/zero > src/large; head -c 1000 /dev/zero > src/small"
    done = cage.run(command, limits=Limits(file_bytes=1 << 20))
    assert (cage.root / "src/large").stat().st_size <= 1 << 20, done.output
    assert (cage.root / "src/small").stat().st_size == 1000


def test_no_descriptor_of_the_sandbox_is_left_to_the_command(cage: Cage) -> None:
    if sys.platform != "linux":
        pytest.skip("there is no /proc here")
    assert cage.run("ls /proc/$$/fd").stdout.split() in (["0", "1", "2"], ["0", "1", "10", "2"])


def test_no_user_namespace_is_made_inside(cage: Cage) -> None:
    if cage.sandbox.name != "bubblewrap" or not bubblewrap.available()._nesting:  # type: ignore[union-attr]  # it is one
        pytest.skip("this sandbox does not promise that")
    done = cage.python("import ctypes\nprint(ctypes.CDLL(None).unshare(0x10000000))")
    assert done.stdout.strip() == "-1"


@pytest.mark.slow
def test_what_git_runs_of_the_tree_keeps_content_and_name(cage: Cage) -> None:
    tools = cage.root / "src/deep/tools"
    tools.mkdir(parents=True)
    (tools / "clean.sh").write_text("cat\n")
    with (cage.root / ".git/config").open("a") as config:
        config.write('[filter "p"]\n\tclean = ./src/deep/tools/clean.sh\n')
    for command in (
        "echo evil > src/deep/tools/clean.sh",
        "rm -f src/deep/tools/clean.sh; echo evil > src/deep/tools/clean.sh",
        "echo evil > src/evil; mv -f src/evil src/deep/tools/clean.sh",
        "mv src/deep/tools src/deep/old; mkdir -p src/deep/tools; echo evil > src/deep/tools/clean.sh",
        "mv src/deep src/old; mkdir -p src/deep/tools; echo evil > src/deep/tools/clean.sh",
        "mv src old; mkdir -p src/deep/tools; echo evil > src/deep/tools/clean.sh",
    ):
        cage.run(command)
        assert (tools / "clean.sh").read_text() == "cat\n", command
    done = cage.run("sh src/deep/tools/clean.sh < README.md; echo x >> src/app.py; echo x > src/new.py")
    assert done.stdout == "# Demo\n"
    assert (cage.root / "src/app.py").read_text().endswith("x\n")
    assert (cage.root / "src/new.py").exists() is (cage.sandbox.name != "landlock")  # as in the top folder


def test_an_environment_that_swarmgate_runs_from_is_read_only(cage: Cage, monkeypatch: pytest.MonkeyPatch) -> None:
    (cage.root / ".venv/bin").mkdir(parents=True)
    (cage.root / ".venv/pyvenv.cfg").touch()
    (cage.root / ".venv/bin/python").write_text("mine")
    monkeypatch.setattr(sys, "prefix", str(cage.root / ".venv"))
    cage.run("rm -rf .venv; mkdir -p .venv/bin; echo evil > .venv/bin/python; echo evil > .venv/x.pth")
    assert (cage.root / ".venv/bin/python").read_text() == "mine"
    assert not (cage.root / ".venv/x.pth").exists()


def test_the_git_folder_of_a_repository_inside_stays_as_it_is(cage: Cage, git: Callable[..., str]) -> None:
    inner = cage.root / "src/vendor/lib"
    inner.mkdir(parents=True)
    git(inner, "init", "--quiet")
    before = (inner / ".git/config").read_text()
    cage.run("echo '[core] fsmonitor = evil' >> src/vendor/lib/.git/config; rm -rf src/vendor/lib/.git")
    cage.run("mv src/vendor src/v; mkdir -p src/vendor/lib/.git; echo evil > src/vendor/lib/.git/config")
    assert (inner / ".git/config").read_text() == before


def test_a_machine_that_is_not_known_has_no_filter() -> None:
    for machine, number in (("x86_64", 248), ("aarch64", 217)):
        assert struct.pack("HBBI", 0x15, 0, 1, number) in seccomp.program(machine, (seccomp.UNIX,), apart=True)
    assert seccomp.program("pdp11", (seccomp.UNIX,), apart=True) == b""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="variables of ld.so(8)")
def test_what_the_loader_reads_holds_for_the_command_alone(cage: Cage, tmp_path: Path) -> None:
    """The sandbox' own program runs with the user's rights: libraries of the tree are none of its business."""
    told = {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(tmp_path / "loaded")}
    assert cage.run("echo is $LD_DEBUG", env=told).stdout.endswith("is files\n")
    assert list(tmp_path.glob("loaded*")) == []


def test_a_folder_of_programs_is_not_opened_to_commands(
    repo: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tools/bin", "tools/cache"):
        (isolated / name).mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{isolated}/tools/bin{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(WorkspaceError, match=r"\[commands\] writable: .*/tools would let .*bin.* on PATH"):
        confine(repo, environ=os.environ, writable=("~/tools",))
    assert confine(repo, environ=os.environ, writable=("~/tools/cache",)).writable == (isolated / "tools/cache",)


def test_a_toolchain_that_lies_elsewhere_can_be_read_and_its_credentials_cannot(
    cage: Cage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("rust/toolchains/cc", "cargo/registry/crate", "cargo/credentials.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("the text")
    monkeypatch.setenv("RUSTUP_HOME", str(tmp_path / "rust"))
    monkeypatch.setenv("CARGO_HOME", str(tmp_path / "cargo"))
    assert cage.run('cat "$RUSTUP_HOME/toolchains/cc" "$CARGO_HOME/registry/crate"').stdout == "the textthe text"
    assert cage.run('cat "$CARGO_HOME/credentials.toml"').exit_code != 0
