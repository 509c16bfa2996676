"""What a confined command can do, and above all what it cannot, by every sandbox that this machine has."""

from __future__ import annotations

import asyncio
import http.server
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from swarmgate.errors import MissingRequirement
from swarmgate.workspace.sandbox import choice, seatbelt
from swarmgate.workspace.sandbox.confinement import Confinement, Limits, environment
from swarmgate.workspace.sandbox.running import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.workspace.process import Completed
    from swarmgate.workspace.sandbox.confinement import Sandbox


class Cage:
    """A repository, a home with a secret, and a sandbox."""

    def __init__(self, sandbox: Sandbox, root: Path, home: Path) -> None:
        self.sandbox, self.root, self.home = sandbox, root, home

    def run(self, command: str, *, timeout_s: float = 20, limits: Limits = Limits(), **env: str) -> Completed:  # noqa: B008 - frozen
        bounds = Confinement(root=self.root, home=self.home, limits=limits)
        return asyncio.run(run(command, sandbox=self.sandbox, confinement=bounds, timeout_s=timeout_s, env=env))


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
    done = cage.run("env; cat /proc/$PPID/environ /proc/1/environ 2>/dev/null | tr '\\0' '\\n'; echo $OWN", OWN="given")
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


def test_the_network_is_not_there(cage: Cage, server: int) -> None:
    script = f"import socket; socket.create_connection(('127.0.0.1', {server}), timeout=5)"
    done = cage.run(f'{sys.executable} -c "{script}"')
    assert "Error" in done.stderr.splitlines()[-1]


def test_all_that_was_started_ends_with_the_command(cage: Cage) -> None:
    mark = f"{os.getpid()}.{id(cage)}"
    cage.run(f"(setsid sh -c 'sleep 0.7; echo late > src/{mark}' &) ; echo started")
    threading.Event().wait(1.2)
    if cage.sandbox.name == "bubblewrap":
        assert not (cage.root / "src" / mark).exists()


def test_memory_and_processes_are_limited(cage: Cage) -> None:
    if cage.sandbox.name == "sandbox-exec":
        pytest.skip("macOS does not limit memory")
    limits = Limits(memory_bytes=200 << 20, processes=30)
    assert "MemoryError" in cage.run(f"{sys.executable} -c 'x = bytearray(500 << 20)'", limits=limits).output
    if os.getuid() and cage.sandbox.name == "landlock":
        done = cage.run("for i in $(seq 60); do sleep 3 & done; wait", limits=limits, timeout_s=10)
        assert done.exit_code != 0


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


def test_unknown_variables_stay_outside() -> None:
    kept = environment({"PATH": "/bin", "LC_ALL": "C", "OPENAI_API_KEY": "k", "AWS_PROFILE": "p"}, {"OWN": "1"})
    assert kept == {"PATH": "/bin", "LC_ALL": "C", "HOME": "/nonexistent", "TMPDIR": "/tmp", "OWN": "1"}  # noqa: S108 - what it is


def test_the_profile_of_macos_denies_after_it_allows(tmp_path: Path) -> None:
    (tmp_path / 'we"ird' / ".git").mkdir(parents=True)
    text = seatbelt.profile(Confinement(root=tmp_path / 'we"ird', home=tmp_path / "home"))
    assert text.index("(allow file-write*") < text.rindex("(deny file-write*")
    assert 'we\\"ird/.git' in text
    assert text.endswith("(deny network*)")
