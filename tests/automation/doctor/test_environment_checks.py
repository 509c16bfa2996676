"""Tests the doctor's checks around the settings: endpoints, `.swarm/`, plan files, hooks, the gates' tools."""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path

import pytest
from tests.project import Project

from swarmgate import assets
from swarmgate.automation.doctor import endpoints, gate_tools, hook_commands, records, swarm_folder
from swarmgate.automation.setting_locations import Places, SettingsFile
from swarmgate.config import Config, load
from swarmgate.gates.definition import load as load_gates
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.ledger import Ledger

HERE = os.uname().nodename


@pytest.fixture
def folder(repo: Path) -> SwarmFolder:
    folder = SwarmFolder(repo)
    folder.create()
    return folder


# --- endpoints ---


@pytest.mark.parametrize(
    ("url", "is_open"),
    [
        ("http://127.0.0.1:8899/v1", False),
        ("http://localhost/v1", False),
        ("http://192.168.1.7:11434/v1", False),
        ("http://10.0.0.2/v1", False),
        ("http://[::1]:80/v1", False),
        ("http://ollama:11434/v1", False),
        ("http://box.local/v1", False),
        ("http://gpu.internal./v1", False),
        ("http://8.8.8.8/v1", True),
        ("http://[2606:4700::1111]/v1", True),
        ("http://api.example.com/v1", True),
        ("https://api.example.com/v1", False),
    ],
)
def test_what_is_sent_in_the_open(url: str, is_open: bool) -> None:  # noqa: FBT001 - a parameter of a test
    assert endpoints.in_the_open(url) is is_open


def test_who_answers_and_who_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with socket.socket() as server, socket.socket() as full:
        server.bind(("127.0.0.1", 0))
        server.listen()
        full.bind(("127.0.0.1", 0))  # bound and not listening: refuses
        there, gone = server.getsockname(), full.getsockname()
        assert list(endpoints.connect([there, gone])) == [gone]
        assert endpoints.address_of(f"http://127.0.0.1:{there[1]}/v1") == there
    assert endpoints.address_of("https://api.example.com/v1") == ("api.example.com", 443)
    began = time.monotonic()
    (why,) = endpoints.connect([("no such host", 1)], within_s=1).values()
    assert why
    assert time.monotonic() - began < 15


def test_a_proxy_is_what_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert endpoints.address_of("https://api.example.com/v1") == ("proxy.example", 3128)
    assert endpoints.address_of("https://127.0.0.1/v1") == ("127.0.0.1", 443)


def test_a_key_over_http_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def everybody_answers(addresses: object) -> dict[endpoints.Address, str]:
        return {}

    monkeypatch.setattr(endpoints, "connect", everybody_answers)
    text = (
        '[providers.a]\nbase_url = "http://api.example.com/v1"\n'
        '[providers.b]\nbase_url = "http://api.example.com/v1"\napi_key_env = "B_KEY"\n'
    )
    path = tmp_path / "config.toml"
    path.write_text(text)
    config = load(user_file=tmp_path / "none", project_file=path, environ={})
    found = endpoints.inspect(config, Places((SettingsFile("config.toml", path, text),), {}))
    assert [(each.line, each.severity) for each in found] == [(2, "warning"), (4, "error")]
    assert "B_KEY" in found[1].message


# --- .swarm/ ---


def test_a_new_folder_has_no_problem(folder: SwarmFolder) -> None:
    assert swarm_folder.inspect(folder) == ((), ())


def test_lines_that_gitignore_lacks(folder: SwarmFolder) -> None:
    path = folder.path / ".gitignore"
    path.write_bytes(b"# mine\r\nruntime/\r\n/traces")
    (found,), (draft,) = swarm_folder.inspect(folder)
    assert (found.where, found.fixable) == (".swarm/.gitignore", True)
    lacking = ("/quarantine/", "/report.html", "/discussions.sqlite3-*", "/discussions.redis", "/events.jsonl*")
    assert f"lacks {', '.join(lacking)}:" in found.message
    added = "".join(f"{line}\r\n" for line in lacking)
    assert draft.after == f"# mine\r\nruntime/\r\n/traces\r\n{added}"


def test_files_of_the_template_that_are_gone(folder: SwarmFolder) -> None:
    (folder.path / ".gitignore").unlink()
    (folder.gates / "README.md").unlink()
    problems, drafts = swarm_folder.inspect(folder)
    assert [each.where for each in problems] == [".swarm/.gitignore", ".swarm/gates/README.md"]
    assert [each.before for each in drafts] == [None, None]
    assert drafts[0].after == (assets.template() / ".gitignore").read_text()


def test_all_of_it_ignored(folder: SwarmFolder) -> None:
    (folder.root / ".gitignore").write_text("*.pyc\n.swarm/\n")
    (folder.path / ".gitignore").write_text("")
    (found,), drafts = swarm_folder.inspect(folder)
    assert (found.where, found.line, drafts) == (".gitignore", 2, ())
    (folder.root / ".gitignore").write_text(".swarm/runtime\n.swarmx\n")
    assert "lacks" in swarm_folder.inspect(folder)[0][0].message


def test_who_may_write(folder: SwarmFolder) -> None:
    folder.config.chmod(0o666)
    (found,), _ = swarm_folder.inspect(folder)
    assert found.text == ".swarm/config.toml: every user of this machine may change it -> chmod o-w .swarm/config.toml"


def test_locks_of_the_dead(folder: SwarmFolder) -> None:
    assert swarm_folder.locks(folder) == ""
    folder.lock.write_text(json.dumps({"pid": 999_999_999, "host": HERE}))
    folder.watch_lock.write_text(json.dumps({"pid": 7, "host": "elsewhere"}))
    assert ".swarm/runtime/lock names pid 999999999" in swarm_folder.locks(folder)
    assert "harmless" in swarm_folder.locks(folder)
    (found,), _ = swarm_folder.inspect(folder)
    assert "pid 7 on elsewhere" in found.message
    folder.watch_lock.unlink()
    folder.lock.unlink()
    with Ledger.write(folder):  # a living owner is none of these
        assert swarm_folder.locks(folder) == ""


# --- plan files ---


def test_edits_that_wait(project: Project) -> None:
    project.planned()
    assert records.inspect(project.folder) == ()
    plan = project.folder.plan_md
    plan.write_text(plan.read_text().replace("Part 1.1", "Part one"))
    (found,) = records.inspect(project.folder)
    assert found.text == ".swarm/plan.md: was edited by hand; the edit is not in the plan yet -> swarm sync"
    plan.write_text(plan.read_text().replace("- [ ]", "- [x]"))
    assert any("1.1" in each.message and "refuses" in each.hint for each in records.inspect(project.folder))
    plan.unlink()
    assert [each.text for each in records.inspect(project.folder)] == [
        ".swarm/plan.md: is missing or out of date -> it comes back with: swarm sync"
    ]
    with project.folder.ledger.open("a") as file:
        file.write('{"seq": 99')
    assert "cut short (10 bytes)" in records.inspect(project.folder)[0].message


# --- hooks ---


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("notify-send 'a b'", "notify-send"),
        ("A=1 B='x y' ./bin/tell", "./bin/tell"),
        ("cd x; make", "cd"),
        ("make; echo", "make"),
        ("$EDITOR x", ""),
        ("(cd x)", ""),
        ("'unfinished", ""),
        ("", ""),
        ("# only a comment", ""),
    ],
)
def test_the_program_of_a_command(command: str, word: str) -> None:
    assert hook_commands.first_word(command) == word


def test_hooks_that_cannot_run(repo: Path) -> None:
    text = (
        "[hooks]\ntask_complted = 'true'\nhook_ran = 'true'\nphase_closed = 'no-such-program x'\n"
        "task_completed = './tell.sh'\nwatch_started = 'if true; then :; fi'\nplan_approved = 'sh -c x'\n"
    )
    path = repo / "config.toml"
    path.write_text(text)
    config = load(user_file=repo / "none", project_file=path, environ={})
    places = Places((SettingsFile("config.toml", path, text),), {})
    found = hook_commands.inspect(config, places, repo)
    assert [(each.line, each.severity) for each in found] == [
        (2, "error"),
        (3, "error"),
        (4, "warning"),
        (5, "warning"),
    ]
    assert "did you mean task_completed" in found[0].message
    script = repo / "tell.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert len(hook_commands.inspect(config, places, repo)) == 3


# --- tools of gates ---


async def test_tools_that_are_too_old(repo: Path) -> None:
    assert gate_tools.inspect(load_gates(repo), Config(), repo) == ()  # also where a loop runs
    (repo / ".swarm/gates").mkdir(parents=True)
    gate = 'id = "odd"\ntitle = "Odd"\nstage = "check"\ncommand = ["git", "x"]\nversion = ["git", "--version"]\n'
    (repo / ".swarm/gates/odd.toml").write_text(f'{gate}minimum_version = "999"\ninstall_hint = "get it"\n')
    (found,) = gate_tools.inspect(load_gates(repo), Config(), repo)
    assert "git (gate odd): version " in found.message
    assert "too old: at least 999 is needed -> get it" in found.text
    assert gate_tools.inspect(load_gates(repo), Config.model_validate({"gates": {"skip": ["odd"]}}), repo) == ()
