"""Tests the readers of Python manifests and locks against cyclonedx-py."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.gates import sbom
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    Project = Any

A, B = "a" * 64, "b" * 64

REQUIREMENTS = f"""\
# what we need
--index-url https://user:word@pypi.example.org/simple
-r more.txt
-c cons.txt
Django==4.2.1 --hash=sha256:{A} \\
    --hash=sha256:{B}
requests[security,socks]>=2 ; python_version < "3.8"
foo_Bar.baz===1.0+local
six==1.*
loose==1.0,>=0.9
name @ https://example.com/name-1.0.tar.gz
git+https://github.com/u/r.git@v1#egg=thing
-e git+ssh://git@github.com/u/e.git@abc#egg=edit&subdirectory=x
-e .
./local/pkg
https://example.com/w-2.0-py3-none-any.whl
./w/zed-3.0-py3-none-any.whl
pkg == 1.0  # trailing
dup==1
dup==1
older (==2.0)
other@git+https://github.com/u/other.git@deadbeef
--no-binary :all:
"""

POETRY_PROJECT = """\
[tool.poetry]
name = "mine"
version = "1.0"
[tool.poetry.dependencies]
python = "^3.11"
Requests = {version = "^2.0", extras = ["socks"]}
colours = {version = "*", optional = true}
local = {path = "../local"}
[tool.poetry.extras]
pretty = ["colours"]
[tool.poetry.group.dev.dependencies]
pytest = "*"
[tool.poetry.group.docs]
optional = true
[tool.poetry.group.docs.dependencies]
sphinx = "*"
"""


def _poetry_package(name: str, version: str, body: str = "", optional: str = "false") -> str:
    files = f'files = [\n    {{file = "{name}-{version}.whl", hash = "sha256:{A}"}},\n]\n'
    head = f'[[package]]\nname = "{name}"\nversion = "{version}"\ndescription = ""\noptional = {optional}\n'
    return f'{head}python-versions = "*"\n{files}{body}\n'


POETRY_LOCK = (
    _poetry_package(
        "requests",
        "2.32.0",
        '[package.dependencies]\nurllib3 = ">=1"\nPySocks = {version = ">=1.5", optional = true}\n'
        '\n[package.extras]\nsocks = ["PySocks (>=1.5)"]\n',
    )
    + _poetry_package("urllib3", "2.2.0")
    + _poetry_package("pysocks", "1.7.1")
    + _poetry_package("colours", "1.0", optional="true")
    + _poetry_package("pytest", "8.0", '[package.dependencies]\ncolorama = {version = "*", markers = "x"}\n')
    + _poetry_package("colorama", "0.4")
    + _poetry_package("sphinx", "7.0")
    + _poetry_package("local", "0.1", '[package.source]\ntype = "directory"\nurl = "../local"\n')
    + _poetry_package("inner", "3.0", '[package.source]\ntype = "legacy"\nurl = "https://pypi.example.org/simple"\n')
    + '[metadata]\nlock-version = "2.0"\npython-versions = "*"\ncontent-hash = "x"\n'
)

PIPFILE_LOCK = json.dumps(
    {
        "_meta": {"sources": [{"name": "pypi", "url": "https://pypi.org/simple"},
                              {"name": "own", "url": "https://u:p@pypi.example.org/simple"}]},
        "default": {
            "Flask": {"version": "==3.0", "hashes": [f"sha256:{A}", f"sha256:{B}"], "index": "pypi"},
            "private": {"version": "==1.0", "index": "own"},
            "vcs": {"git": "https://github.com/u/vcs.git", "ref": "abc"},
            "here": {"path": "."},
            "file": {"file": "https://example.com/file-1.0.zip"},
        },
        "develop": {"pytest": {"version": "==8.0"}},
    }
)  # fmt: skip


def _document(project: Project) -> dict[str, Any]:
    repository = Repository.discover(project.root)
    loaded: dict[str, Any] = json.loads(sbom.document(repository, repository.snapshot()))
    return loaded


def _ours(project: Project) -> set[tuple[str, str, str]]:
    return {_identity(each) for each in _document(project)["components"]}


def _identity(each: dict[str, Any]) -> tuple[str, str, str]:
    return each["name"], each.get("version", ""), each.get("purl", "")


def _reference(folder: Path, *arguments: str) -> set[tuple[str, str, str]]:
    program = Path(sys.executable).with_name("cyclonedx-py")
    done = subprocess.run(
        [program, *arguments, "--no-validate", "-o", "-"], cwd=folder, capture_output=True, check=True
    )
    return {_identity(each) for each in json.loads(done.stdout)["components"]}


@pytest.mark.slow
def test_requirements_equal_cyclonedx_py(project: Project) -> None:
    project.write("requirements.txt", REQUIREMENTS)
    project.write("more.txt", "nested==3.0\n")
    project.write("cons.txt", "cons==9\n")
    ours = _ours(project)
    assert ours == _reference(project.root, "requirements", "requirements.txt")
    assert len(ours) == 17


def test_poetry_equals_cyclonedx_py(project: Project) -> None:
    project.write("pyproject.toml", POETRY_PROJECT)
    project.write("poetry.lock", POETRY_LOCK)
    ours = _ours(project)
    assert ours == _reference(project.root, "poetry", ".")
    assert {name for name, _, _ in ours} == {"requests", "urllib3", "pysocks", "pytest", "colorama", "local"}


def test_everything_that_is_locked_on_request(project: Project) -> None:
    project.write("pyproject.toml", POETRY_PROJECT)
    project.write("poetry.lock", POETRY_LOCK)
    repository = Repository.discover(project.root)
    found = json.loads(sbom.document(repository, repository.snapshot(), everything=True))["components"]
    assert {each["name"] for each in found} >= {"sphinx", "colours", "inner"}


def test_pipenv_equals_cyclonedx_py(project: Project) -> None:
    project.write("Pipfile.lock", PIPFILE_LOCK)
    ours = _ours(project)
    assert ours == _reference(project.root, "pipenv", ".")
    assert len(ours) == 5


def test_poetry_edges_follow_the_extras(project: Project) -> None:
    project.write("pyproject.toml", POETRY_PROJECT)
    project.write("poetry.lock", POETRY_LOCK)
    document = _document(project)
    edges = {row["ref"]: row.get("dependsOn", []) for row in document["dependencies"]}
    assert edges["pkg:pypi/requests@2.32.0"] == ["pkg:pypi/pysocks@1.7.1", "pkg:pypi/urllib3@2.2.0"]
    assert document["metadata"]["component"]["name"] == "mine"


UV = f"""\
version = 1
requires-python = ">=3.11"

[[package]]
name = "mine"
version = "0.1.0"
source = {{ virtual = "." }}
dependencies = [
    {{ name = "anyio" }},
]

[[package]]
name = "anyio"
version = "4.0.0"
source = {{ registry = "https://pypi.org/simple" }}
dependencies = [
    {{ name = "idna", marker = "python_full_version < '3.13'" }},
]
sdist = {{ url = "https://files.pythonhosted.org/a.tar.gz", hash = "sha256:{A}", size = 1 }}
wheels = [
    {{ url = "https://files.pythonhosted.org/a.whl", hash = "sha256:{B}", size = 1 }},
]

[[package]]
name = "idna"
version = "3.6"
source = {{ git = "https://github.com/u/idna?rev=main#abc" }}
"""

PDM = f"""\
[metadata]
groups = ["default"]
lock_version = "4.4"

[[package]]
name = "anyio"
version = "4.0.0"
dependencies = [
    "idna>=2.8",
]
files = [
    {{file = "anyio-4.0.0.whl", hash = "sha256:{A}"}},
]

[[package]]
name = "anyio"
version = "4.0.0"
extras = ["trio"]
dependencies = [
    "anyio==4.0.0",
    "trio>=0.22",
]

[[package]]
name = "idna"
version = "3.6"

[[package]]
name = "trio"
version = "0.24"
"""

PYLOCK = f"""\
lock-version = "1.0"
created-by = "test"

[[packages]]
name = "anyio"
version = "4.0.0"
dependencies = [{{name = "idna"}}]

[[packages.wheels]]
url = "https://files.pythonhosted.org/a.whl"
hashes = {{sha256 = "{A}"}}

[[packages]]
name = "idna"
version = "3.6"
archive = {{url = "https://example.com/idna-3.6.zip", hashes = {{sha256 = "{B}"}}}}
"""


@pytest.mark.parametrize(
    ("name", "text", "purls"),
    [
        ("uv.lock", UV, ["pkg:pypi/anyio@4.0.0", "pkg:pypi/idna@3.6?vcs_url=git%2Bhttps://github.com/u/idna"]),
        ("pdm.lock", PDM, ["pkg:pypi/anyio@4.0.0", "pkg:pypi/idna@3.6", "pkg:pypi/trio@0.24"]),
        ("pylock.toml", PYLOCK,
         ["pkg:pypi/anyio@4.0.0", "pkg:pypi/idna@3.6?download_url=https://example.com/idna-3.6.zip"]),
    ],
)  # fmt: skip
def test_other_python_locks_are_read_whole(project: Project, name: str, text: str, purls: list[str]) -> None:
    project.write(name, text)
    document = _document(project)
    found = sorted(each["purl"].partition("%3Frev")[0] for each in document["components"])
    assert found == purls
    first = document["components"][0]
    assert {digest["content"] for digest in first["hashes"]} <= {A, B}
    assert any(row.get("dependsOn") for row in document["dependencies"] if row["ref"] == "pkg:pypi/anyio@4.0.0")


def test_a_project_without_a_lock_lists_what_it_asks_for(project: Project) -> None:
    text = '[project]\nname = "mine"\nversion = "1"\ndependencies = ["Httpx[http2]>=0.27", "rich==13.9"]\n'
    text += (
        '[project.optional-dependencies]\nx = ["attrs"]\n[dependency-groups]\ndev = ["mypy", {include-group = "t"}]\n'
    )
    text += "t = []\n"
    project.write("pyproject.toml", text)
    counts = Counter(_ours(project))
    assert set(counts) == {
        ("Httpx", "", "pkg:pypi/httpx"), ("rich", "13.9", "pkg:pypi/rich@13.9"),
        ("attrs", "", "pkg:pypi/attrs"), ("mypy", "", "pkg:pypi/mypy"),
    }  # fmt: skip
