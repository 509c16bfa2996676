"""The wheel and the sdist, built offline from this tree: all data inside, nothing else, and imports without effects."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
DATA = {
    "gates": ROOT / "gates",
    "prompts": ROOT / "prompts",
    "template": ROOT / ".swarm-template",
    "demo": ROOT / "examples/demo",
    "docs": ROOT / "docs",
    "examples": ROOT / "examples",
}
"""Function of `swarmgate.assets` -> the folder of the checkout that it must stand for."""

CACHES = {"__pycache__", ".ruff_cache", ".mypy_cache", ".pytest_cache"}
"""Folders that tools leave in a checkout and git ignores."""

_PROBE = "urllib3/util/connection.py"
"""Part of detect-secrets' dependencies: it binds a socket of this host to learn whether there is IPv6."""

pytestmark = pytest.mark.xdist_group("packaging")

READ_DATA = """
import hashlib, json, pathlib, sys
import swarmgate
from swarmgate import assets
def digests(folder):
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
folders = ("gates", "prompts", "template", "demo", "docs", "examples")
found = {name: digests(getattr(assets, name)()) for name in folders}
from swarmgate.gates.definition import load
from swarmgate.testing import Script
print(json.dumps({
    "package": swarmgate.__file__,
    "data": found,
    "gates": [gate.id for gate in load()],
    "rules": len(Script.load(assets.demo() / "script.yaml").rules),
}))
"""

IMPORT_ALL = """
import importlib, json, os, pkgutil, sys
effects = []
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
def watch(event, args):
    if event == "open" and isinstance(args[2], int) and args[2] & WRITING:
        effects.append((origin(), f"open {args[0]!r} for writing"))
    elif event in {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.putenv", "subprocess.Popen"}:
        effects.append((origin(), f"{event} {args!r}"))
    elif event in {"os.system", "os.fork", "os.posix_spawn"} or event.startswith(("socket.", "urllib.", "ftplib.")):
        if event not in {"socket.gethostname", "socket.__new__"}:
            effects.append((origin(), f"{event} {args!r}"))
def origin():
    frame = sys._getframe(2)
    while frame and "site-packages" not in frame.f_code.co_filename and "swarmgate" not in frame.f_code.co_filename:
        frame = frame.f_back
    return frame.f_code.co_filename if frame else "?"
sys.addaudithook(watch)
import swarmgate
names = [module.name for module in pkgutil.walk_packages(swarmgate.__path__, "swarmgate.")]
# The first is there to load all that a worker needs; the package of the second greets whoever imports it.
names = [name for name in names if not name.endswith((".preloaded", ".mini_swe_agent"))]
threads_before = len(sys._current_frames())
for name in names:
    importlib.import_module(name)
print(json.dumps({
    "modules": names, "effects": effects, "threads": len(sys._current_frames()) - threads_before
}))
"""


def run_python(code: str, folder: Path, *args: str, path: Path | None = None) -> Any:
    """What a fresh interpreter prints as JSON, in an empty home and an empty folder."""
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=folder,
        env=environment(folder, path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def environment(folder: Path, path: Path | None = None) -> dict[str, str]:
    """The environment of a run: no byte code is written, and `path` is looked at before anything installed."""
    home = {"HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "GIT_PYTHON_REFRESH": "raise"}
    return {**os.environ, **home, **({"PYTHONPATH": str(path)} if path else {})}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel made from it."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT],
        env={**os.environ, "PIP_NO_INDEX": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def target(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel installed, and nothing else."""
    folder = tmp_path_factory.mktemp("target")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile"]
    done = subprocess.run([*command, "--target", folder, wheel], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_every_data_file_is_read_from_the_installed_wheel(target: Path, tmp_path: Path) -> None:
    found = run_python(READ_DATA, tmp_path, path=target)
    assert Path(found["package"]).is_relative_to(target)
    here = {name: digests(folder) for name, folder in DATA.items()}
    here["docs"] = {name: digest for name, digest in here["docs"].items() if not name.endswith(".py")}  # writes pages
    here["examples"] = {name: digest for name, digest in here["examples"].items() if "/" not in name}
    assert found["data"] == here
    assert all(here.values())
    assert {"secret_scan", "syntax_check"} <= set(found["gates"])
    assert found["rules"] > 10


def shipped(folder: Path) -> list[Path]:
    """The files of a folder of the checkout, without what tools left there."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and not CACHES & set(path.parts)]


def digests(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest() for path in shipped(folder)}


@pytest.mark.slow
def test_the_command_of_the_wheel_works(target: Path, repo: Path, tmp_path: Path, git: Callable[..., str]) -> None:
    def swarm(*args: str) -> str:
        done = subprocess.run(
            [target / "bin" / "swarm", *args],
            cwd=repo,
            env=environment(tmp_path, target),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert swarm("--version") == "swarmgate 0.1.0\n"
    assert json.loads(swarm("init", "--json"))["created"] is True
    assert swarm("docs", "configuration") == (ROOT / "docs/configuration.md").read_text("utf-8")
    template = {path.relative_to(DATA["template"]) for path in DATA["template"].rglob("*") if path.is_file()}
    assert [path for path in template if not (repo / ".swarm" / path).is_file()] == []
    assert len(json.loads(swarm("gates", "list", "--json"))) == len(list(DATA["gates"].glob("*.toml")))


def installation() -> list[str]:
    """The commands of the README's section on installation, less those of pipx."""
    text = (ROOT / "README.md").read_text("utf-8").partition("\n## Installation\n")[2].partition("<!-- test-command")[0]
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if not line.startswith("pipx")]


@pytest.mark.slow
def test_the_installation_of_the_readme_works_as_it_is_written(tmp_path: Path) -> None:
    """Without a network: what the package needs comes from the environment of the tests."""
    environ = {
        **environment(tmp_path, Path(sysconfig.get_paths()["purelib"])),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # of pip: "0" is without
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    script = " && ".join([*installation(), "cd / && ~/.local/bin/swarm docs configuration"])
    done = subprocess.run(
        ["bash", "-c", script], cwd=ROOT, env=environ, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith((ROOT / "docs/configuration.md").read_text("utf-8"))
    (installed,) = (tmp_path / ".local/share/swarmgate").glob("lib/python*/site-packages/swarmgate/_data/docs/gates")
    assert (installed / "diff.md").is_file()


def test_no_line_installs_a_name_that_no_index_has_from_us() -> None:
    """`pip install 'swarmgate[server]'` adds packages where swarmgate is installed: pip asks for no other one then."""
    tools = r"(?:pip|pipx|uv|uv pip|uv tool) (?:install|run|add|upgrade)|pip wheel|uvx"
    name = re.compile(rf"(?:{tools})\b[^\n`,]*?(?<![\w/.-])swarmgate(?:\[(?!(?:server|fleet|mcp|lsp)\])|(?![\[\w/.-]))")
    assert not name.search("pip install 'swarmgate[server]'")
    assert name.search("run: pipx install swarmgate\n")
    assert name.search("`pip install 'swarmgate[eval]'`")
    assert not name.search("pip wheel . && pipx install dist/swarmgate-0.1.0-py3-none-any.whl")
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    for path in (*pages, *(ROOT / "src").rglob("*.py"), *(ROOT / ".swarm-template").rglob("*.*")):
        assert name.findall(path.read_text("utf-8")) == [], path


def test_the_wheel_holds_the_package_and_its_data_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        entry_points = archive.read(next(name for name in names if name.endswith("entry_points.txt"))).decode()
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
        text = b"\n".join(archive.read(name) for name in names)
    assert {name.partition("/")[0] for name in names} == {"swarmgate", "swarmgate-0.1.0.dist-info"}
    assert "swarm = swarmgate.cli:main" in entry_points
    assert "Requires-Python: >=3.11" in metadata
    assert "License-Expression: MIT" in metadata
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert sources <= set(names)
    templates = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("templates/*")}
    assert templates <= set(names)
    assert "swarmgate/templates/page.html" in templates
    assert "swarmgate/py.typed" in names
    demo = "swarmgate/_data/demo/"
    strange = (".pyc", ".env", ".pem", ".key", "id_rsa", ".jsonl", "config.toml.bak")
    assert [name for name in names if name.endswith(strange) or "__pycache__" in name] == []
    assert [name for name in names if "/tests/" in name and not name.startswith(demo)] == []
    assert str(ROOT).encode() not in text
    assert str(Path.home()).encode() + b"/" not in text


def test_nothing_in_the_wheel_is_a_secret(wheel: Path) -> None:
    """The project's own secret scan, over every file that is shipped."""
    from swarmgate.domain.review.finding import Severity
    from swarmgate.gates.adapters.secrets import scan_file
    from swarmgate.gates.project.files import language_of, traits_of
    from swarmgate.gates.source.file import SourceFile

    with zipfile.ZipFile(wheel) as archive:
        # RECORD holds the hashes of all files.
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}
    found = []
    for name, content in files.items():
        seen = scan_file(SourceFile.of(name, language_of(name), traits_of(name), content))
        found += [each for each in seen if not isinstance(each, str) and each.severity.rank >= Severity.MEDIUM.rank]
    assert found == []


def test_the_sdist_holds_what_a_packager_needs(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "tests/test_packaging.py", "docs/gates.md"}
    assert needed <= names
    for folder in DATA.values():
        assert {path.relative_to(ROOT).as_posix() for path in shipped(folder)} <= names
    assert [name for name in names if name.startswith((".git/", ".venv", "dist/")) or name.endswith(".pyc")] == []


@pytest.mark.slow
def test_importing_any_module_does_nothing(tmp_path: Path) -> None:
    found = run_python(IMPORT_ALL, tmp_path)
    assert {"swarmgate.cli.app", "swarmgate.engine.swarm", "swarmgate.testing.server"} <= set(found["modules"])
    ours = [(where, what) for where, what in found["effects"] if not where.endswith(_PROBE)]
    assert ours == []
    assert found["threads"] == 0
    assert list(tmp_path.iterdir()) == []


def test_the_watch_over_imports_sees_effects(tmp_path: Path) -> None:
    """A module that writes, starts a process and asks the network is caught by the same program."""
    bad = tmp_path / "lib" / "swarmgate"
    bad.mkdir(parents=True)
    (bad / "__init__.py").write_text("")
    (bad / "worse.py").write_text(
        "import socket, subprocess\n"
        "open('left-behind', 'w').close()\n"
        "subprocess.run(['true'])\n"
        "with socket.socket() as s: s.bind(('127.0.0.1', 0))\n"
    )
    seen = " ".join(what for _, what in run_python(IMPORT_ALL, tmp_path, path=tmp_path / "lib")["effects"])
    assert "left-behind" in seen
    assert "subprocess.Popen" in seen
    assert "socket.bind" in seen


@pytest.mark.parametrize("module", ["swarmgate", "swarmgate.cli", "swarmgate.cli.app"])
def test_the_command_line_starts_light(module: str, tmp_path: Path) -> None:
    heavy = ("openai", "git", "jinja2", "yaml", "detect_secrets", "pydantic_settings", "rich.console", "httpx")
    code = f"import json, sys, {module}; print(json.dumps([name for name in {heavy!r} if name in sys.modules]))"
    assert run_python(code, tmp_path) == []
