"""Programs and modules that agents left in the work tree: whatever verb is run, none starts with the user's rights."""

from __future__ import annotations

import json
import logging
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.confined import SANDBOX
from tests.misbehaviour.case import case
from tests.misbehaviour.conftest import SECRET
from tests.project import Project, code, part
from typer.testing import CliRunner

from swarmgate import cli
from swarmgate.cli.app import app
from swarmgate.domain.events.event import GuardActed
from swarmgate.gates.tools import table
from swarmgate.workspace.programs import import_path

_OTHERS = """
arp bandit bun bwrap cargo-clippy cat cc claude codex composer diff dotnet editor env file gcc gem gh glab go gpg gpg2
gradle hg ifconfig ip java ld ldconfig less ls lsb_release lsof make more mvn nice node npm npx objdump open osemgrep
patch perl php pip pip3 pnpm poetry ps pyright python python3 rm ruby ruff sandbox-exec sed semgrep semgrep-core sh
ssh sudo svn sw_vers swarm sysctl tar tput tr tty ty uname uv uvx vi vim which wslview xdg-open yarn
"""
"""Programs that packages and git start by their names, or that somebody might."""

NAMES = tuple(sorted({tool.name for tool in table.programs()} | set(_OTHERS.split())))
_OPTIONAL = ("brotli", "h2", "importlib_metadata", "orjson", "trio", "uvloop", "zstandard")
"""Modules that packages import where they are there."""
_SHADOWED = (
    "asyncio", "codecs", "contextvars", "dataclasses", "datetime", "email", "gc", "httpx", "json", "logging", "openai",
    "pathlib", "pydantic", "random", "rich", "shlex", "shutil", "socket", "ssl", "subprocess", "tempfile", "tomllib",
    "typer", "typing", "uuid", "yaml",
)  # fmt: skip
"""Modules of Python's own and of packages."""
FOLDERS = (".venv/bin", "node_modules/.bin", ".", "lib")
"""Where agents leave programs; the last two are on PYTHONPATH as well."""

_FILES = {
    "web/eslint.config.js": "", "web/a.js": "let a = 1\n", "web/biome.json": "{}\n", "tsconfig.json": "{}\n",
    "web/a.ts": "let a: number = 1\n", "pkg/go.mod": "module m\n", "pkg/a.go": "package m\n",
    "Cargo.toml": "[package]\n",
    "src/lib.rs": "fn a() {}\n", "pom.xml": "<project/>\n", "A.java": "class A {}\n", "a.csproj": "<Project/>\n",
    "A.cs": "class A {}\n", "Makefile": "all:\n\techo 1\n", "a.c": "int a;\n", "mypy.ini": "[mypy]\nfiles = b.py\n",
    "b.py": '"""B."""\n', "pyrightconfig.json": "{}\n", "ty.toml": "\n", "run.sh": "#!/bin/bash\necho 1\n",
    "uv.lock": "\n",
}  # fmt: skip
"""A change that asks for every linter and every build."""

_LISTED = ("dispatch", "debate", "chat", "discuss", "decide", "critique", "orchestrate")
VERBS: dict[str, str] = {
    "init": "",
    "plan": "'Add parts'",
    "approve": "",
    "run": "",
    "answer": "1 'metres'",
    "revise": "'Smaller parts'",
    "top": "",
    "stop": "",
    "status": "",
    "cost": "",
    "show": "1.1",
    "history": "",
    "failures": "",
    "verify": "",
    "retry": "1.1",
    "skip": "1.1 --reason 'not now'",
    "undo": "1.1",
    "abandon": "--reason 'not now'",
    "override": "1.1 --reason 'as it is'",
    "gates baseline": "--reason 'for now'",
    "gates run": "--no-cache",
    "gates list": "",
    "gates explain": "S602",
    "gates doctor": "",
    "sbom": "--environment",
    "guard explain": "-- git status",
    "mcp": "",
    "lsp": "",
    "dispatch hold": "tasks.toml",
    "debate hold": "'is it?'",
    "chat hold": "chat.toml",
    "discuss hold": "'what is it?'",
    "decide hold": "'what is it?' ",
    "decide answer": "none --stand agree",
    "critique hold": "'write it'",
    "orchestrate hold": "work.toml",
    **{f"{each} show": "none" for each in _LISTED},
    **{f"{each} list": "" for each in _LISTED},
    **{f"{each} resume": "none" for each in _LISTED if each != "dispatch"},
    "metrics": "",
    "sync": "",
    "watch": "--daemon",
    "watch status": "",
    "watch stop": "",
    "automation status": "",
    "automation on": "decision_drift_detection",
    "automation off": "decision_drift_detection",
    "automation mode": "manual",
    "events": "",
    "hooks list": "",
    "hooks try": "task_completed",
    "preflight": "--phase 1",
    "evidence show": "",
    "evidence summary": "",
    "evidence prune": "",
    "drift": "",
    "handoff": "",
    "report": "--open",
    "pr": "--draft",
    "eval gates": "secrets=none",
    "eval debate": "--fixtures none --models none",
    "eval alone": "none --repos none --model none/none",
    "eval patches": "none --repos none",
    "eval list": "",
    "doctor": "",
    "agents list": "",
    "agents test": "coder",
    "docs": "hooks",
    "demo": "--live --dir DEMO",
    "serve": "--host 192.0.2.1",
    "server status": "",
    "server accounts add": "ada",
    "server accounts change": "ada --role viewer",
    "server accounts link": "ada",
    "server accounts list": "",
    "server accounts password": "ada",
    "server accounts delete": "ada",
    "server keys add": "ada ci",
    "server keys list": "ada",
    "server keys revoke": "ada none",
    "server repositories add": "ROOT",
    "server repositories list": "",
    "server repositories remove": "project",
    "worker": "",
    "fleet submit": "'Add parts'",
    "fleet status": "",
    "fleet show": "none",
    "fleet approve": "none",
    "fleet answer": "none 1 metres",
    "fleet revise": "none 'Smaller parts'",
    "fleet retry": "none 1.1",
    "fleet skip": "none 1.1 --reason 'not now'",
    "fleet override": "none 1.1 --reason 'as it is'",
    "fleet abandon": "none --reason 'not now'",
    "fleet drain": "",
    "fleet rebuild": "",
    "fleet metrics": "",
    "fleet run": "-- metrics",
    "hook install": "claude --yes",
    "hook status": "",
    "hook session-start": "",
    "hook pre-tool-use": "",
    "hook post-tool-use": "",
    "hook stop": "",
    "hook uninstall": "claude --yes",
    "attest verify": "HEAD",
    "attest show": "HEAD",
    "attest restore": "HEAD",
    "server backup": "BACKUP",
    "server restore": "BACKUP",
}
"""Every verb, with arguments that it takes."""


_SERVED = {"mcp", "lsp"}
"""Verbs that take standard input and output as theirs: `test_start` has them."""
_EVENTS = {"hook session-start", "hook pre-tool-use", "hook post-tool-use", "hook stop"}
"""Verbs that are told on standard input where they are."""


def _session(root: Path) -> str:
    """What an agent hands over with an event of its session."""
    edited = {"file_path": str(root / "src/app.py"), "command": "make"}
    return json.dumps({"session_id": "planted", "cwd": str(root), "tool_name": "Edit", "tool_input": edited})


def _all_verbs(command: Any, name: str = "") -> Iterator[str]:
    """The verbs as typer knows them; one with verbs below it that can be called alone counts itself."""
    below = command.list_commands(None) if hasattr(command, "list_commands") else ()
    if name and (not below or command.invoke_without_command):
        yield name
    for each in below:
        yield from _all_verbs(command.get_command(None, each), f"{name} {each}".strip())


def test_no_verb_is_left_out() -> None:
    assert set(_all_verbs(typer.main.get_command(app))) == set(VERBS)


@dataclass
class Planted:
    """A project with programs and modules that nobody asked for, which tell when they run with the user's rights."""

    project: Project
    fired: Path
    ran: Path
    environ: dict[str, str]

    def modules(self, *names: str) -> None:
        """Leaves modules of these names."""
        for name in names:
            for folder in (".", "lib"):
                self.project.write(f"{folder}/{name}.py", f"print(__file__, file=open({str(self.fired)!r}, 'a'))\n")

    @property
    def told(self) -> str:
        """What was started unconfined, and what it saw."""
        return self.fired.read_text(errors="replace") if self.fired.exists() else ""

    @property
    def confined(self) -> set[str]:
        """The names of what was started within a sandbox: the tree is all that it could write."""
        lines = (self.ran / "names").read_text().split() if (self.ran / "names").exists() else []
        return {Path(line).name for line in lines}


@pytest.fixture
def planted(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planted:
    if SANDBOX == "none":
        pytest.skip("this machine has no sandbox")
    root, fired = project.root, tmp_path / "fired"
    ran = root / "ran"
    ran.mkdir()
    script = (
        f'#!/bin/sh\n{{ echo "$0 $*"; /bin/cat /proc/$PPID/environ; }} 2>/dev/null >> {fired}\n'
        f'{{ /bin/cat /proc/$PPID/environ /proc/1/environ >> {ran}/environ; echo "$0" >> {ran}/names; }} 2>/dev/null\n'
    )
    for folder in FOLDERS:
        for name in NAMES:
            project.write(f"{folder}/{name}", script, mode=0o755)
    (tmp_path / "links").symlink_to(root / ".venv/bin")
    project.write(".venv/pyvenv.cfg", "home = /usr/bin\n")
    ignored = (
        "/ran/",
        "/.venv/",
        "/node_modules/",
        "/lib/",
        *NAMES,
        *(f"/{name}.py" for name in (*_OPTIONAL, *_SHADOWED)),
    )
    project.write(".git/info/exclude", "\n".join(ignored) + "\n")
    folders = [*(str(root / each) for each in FOLDERS), str(tmp_path / "links"), "", ".", ".venv/bin"]
    environ = {
        "PATH": os.pathsep.join([*folders, os.environ["PATH"]]), "VIRTUAL_ENV": str(root / ".venv"),
        "PYTHONPATH": os.pathsep.join(["lib", str(root / "lib"), ""]), "NODE_PATH": str(root / "lib"),
        "NODE_OPTIONS": "--require ./lib/a.js", "LD_LIBRARY_PATH": str(root / "lib"), "BASH_ENV": str(root / "lib/env"),
        "MY_API_KEY": SECRET, "BROWSER": "cat",
    }  # fmt: skip
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    made = Planted(project, fired, ran, environ)
    made.modules(*_OPTIONAL)
    return made


@pytest.fixture
def fresh(planted: Planted) -> Callable[[list[str]], AbstractContextManager[None]]:
    """What a new process would be: it knows no work tree yet, and has the variables that the user has."""

    @contextmanager
    def process(words: list[str]) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(import_path, "_TREES", set())
            patch.setattr(import_path, "_ENTERED", set())
            patch.setattr(sys, "path", [str(planted.project.root / "lib"), *sys.path])
            for name, value in planted.environ.items():
                patch.setenv(name, value)
            cli.keep_to_ourselves(words)
            yield

    return process


@pytest.mark.slow
@case(
    "commands",
    "leave programs by every tool's name, and modules, where PATH and PYTHONPATH lead in the work tree; run any verb",
    "none is started outside of a sandbox; confined, those of the project's own environments still do their work",
)
def test_every_verb(
    planted: Planted,
    fresh: Callable[[list[str]], AbstractContextManager[None]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = planted.project
    places = {"DEMO": tmp_path / "demo", "ROOT": project.root, "BACKUP": tmp_path / "backup"}
    providers = {"base_url": project.play().base_url, "api_key_env": "MY_API_KEY"}
    project.configure(hooks={"task_completed": "make"}, tests={"timeout_s": 60}, providers__local=providers)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # `serve` writes a log to what is stderr now
    for verb, arguments in VERBS.items():
        if verb in _SERVED:
            continue
        if verb == "gates run":
            for path, text in _FILES.items():
                project.write(path, text)
        elsewhere = verb in {"demo", "docs", "eval list", "eval gates"} | _EVENTS or verb.startswith("serve")
        where = [] if elsewhere else ["--repo", str(project.root)]
        words = [*verb.split(), *(str(places.get(each, each)) for each in shlex.split(arguments))]
        at = words.index("--") if "--" in words else len(words)
        words[at:at] = where
        with fresh(words):
            result = CliRunner().invoke(app, words, input=_session(project.root) if verb in _EVENTS else None)
        assert result.exit_code != 70, result.output
        assert planted.told == "", verb
    wanted = {tool.name for tool in table.programs()} - {"git", "gofmt", "rustfmt"}
    assert wanted <= planted.confined
    assert SECRET not in (planted.ran / "environ").read_text(errors="replace")


@pytest.mark.slow
@pytest.mark.parametrize("start", [("-m", "swarmgate"), (str(Path(sys.executable).with_name("swarm")),)])
@case(
    "commands",
    "leave a json.py, a typing.py and modules of packages in the project, on PYTHONPATH too; start swarm there",
    "the current folder and PYTHONPATH in a work tree are no place to import from",
)
def test_start(planted: Planted, start: tuple[str, ...]) -> None:
    planted.project.play()
    planted.modules(*_SHADOWED)
    asking = ("plan", "Add parts")  # its client of models starts `uname`
    for words in (("gates", "list"), asking, *((each,) for each in sorted(_SERVED))):
        argv = [sys.executable, *start, *words]
        done = subprocess.run(argv, cwd=planted.project.root, input="", capture_output=True, text=True, check=False)
        assert done.returncode in (0, 3), done.stderr
        assert planted.told == ""


def test_what_was_planted_would_tell(planted: Planted) -> None:
    """The twin of the others: without care, it runs with all rights."""
    planted.modules("json")
    root = planted.project.root
    subprocess.run(["/bin/sh", "-c", f"{root}/.venv/bin/git --version; :"], check=True)
    subprocess.run([sys.executable, "-c", "import json"], cwd=root, check=True)
    assert ".venv/bin/git --version" in planted.told
    assert SECRET in planted.told
    assert f"{root}/json.py" in planted.told


@pytest.mark.slow
@case(
    "commands",
    "leave what Python imports before swarmgate's first line: a swarmgate.py, a sitecustomize.py on PYTHONPATH",
    "taken back after the turn, on record: those names are nobody's to make there",
)
def test_what_comes_before_the_first_line(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "lib")
    left = {"swarmgate.py": part("x"), "lib/sitecustomize.py": part("x"), "encodings/__init__.py": part("x")}
    project.planned(code({"src/calc/part_1_1.py": part("1.1"), "types/index.d.ts": "export {}\n", **left}))
    project.swarm("run", exits=3)
    assert project.state.task("1.1").commit
    changed = project.git("show", "--name-only", "--format=").splitlines()
    assert {"src/calc/part_1_1.py", "types/index.d.ts"} <= set(changed)
    assert not any((project.root / name).exists() for name in left)
    assert len(project.quarantined("sitecustomize.py")) == 1
    notes = [each.note.detail for each in project.events(GuardActed) if each.note.rule == "authority"]
    assert any("swarmgate's own Python" in each for each in notes)
