"""`swarm sbom`: the document of the work tree, by hand, and the versions that are installed."""

from __future__ import annotations

import json
import shutil
import stat
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from tests.confined import SANDBOX
from tests.gates.test_sbom_gate import _validator
from tests.gates.test_sbom_python import POETRY_LOCK, POETRY_PROJECT
from tests.project import Project

LOCK = json.dumps(
    {"lockfileVersion": 3, "packages": {"": {"name": "web"}, "node_modules/left-pad": {"version": "1.3.0"}}}
)


def environment(root: Path, *packages: tuple[str, str, str]) -> Path:
    """A virtual environment with packages, each a name, a version and what it requires."""
    (root / "bin").mkdir(parents=True)
    (root / "bin/python").symlink_to(Path(sys.executable).resolve())
    home = Path(sys.executable).resolve().parent
    (root / "pyvenv.cfg").write_text(f"home = {home}\ninclude-system-site-packages = false\n")
    site = root / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    for name, version, needs in packages:
        folder = site / f"{name}-{version}.dist-info"
        folder.mkdir(parents=True)
        wanted = f"Requires-Dist: {needs}\n" if needs else ""
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{wanted}")
    return root


def components(document: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each.get("version", "") for each in document["components"]}


@pytest.fixture(autouse=True)
def _no_active_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT"):
        monkeypatch.delenv(name, raising=False)


def test_the_document_of_the_work_tree_goes_to_stdout_and_the_summary_to_stderr(project: Project) -> None:
    project.write("requirements.txt", "rich>=13\nattrs==24.2.0\n")
    project.write("web/package-lock.json", LOCK)  # not committed, and yet part of the tree
    before = project.git("status", "--porcelain", "--untracked-files=all")
    done = project.swarm("sbom")
    document = json.loads(done.stdout)
    assert components(document) == {"rich": "", "attrs": "24.2.0", "left-pad": "1.3.0"}
    assert document["metadata"]["timestamp"].endswith("Z")
    assert "components: 3 (1 npm, 2 pypi), files read: 2" in done.stderr
    assert "1 without a version: rich" in done.stderr
    assert project.git("status", "--porcelain", "--untracked-files=all") == before, "nothing was written"


def test_what_has_neither_a_version_nor_a_name_is_told_by_its_place(project: Project) -> None:
    project.write("requirements.txt", "rich\n-e ./libs/part[fast]\ngit+https://git.example/a/b@main\n")
    told = project.swarm("sbom").stderr
    assert "3 without a version: ./libs/part, git+https://git.example/a/b@main, rich" in told


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["1.6", "1.7"])
def test_the_document_is_valid_against_the_schema(project: Project, spec: str) -> None:
    project.write("requirements.txt", "rich>=13\nattrs==24.2.0\ngit+https://github.com/u/r.git@v1#egg=thing\n-e .\n")
    project.write("web/package-lock.json", LOCK)
    environment(project.root / ".venv", ("rich", "13.9.4", "Pygments>=2"), ("Pygments", "2.18.0", ""))
    document = json.loads(project.swarm("sbom", "--environment", "--spec", spec).stdout)
    assert (document["specVersion"], document["bomFormat"]) == (spec, "CycloneDX")
    assert [error.message for error in _validator(spec).iter_errors(document)] == []


def test_out_is_replaced_in_one_step_and_the_summary_goes_to_stdout(project: Project, tmp_path: Path) -> None:
    project.write("requirements.txt", "attrs==24.2.0\n")
    out = tmp_path / "sbom.cdx.json"
    out.write_text("old")
    out.chmod(0o600)
    told = project.swarm("sbom", "--out", str(out)).stdout
    assert f"Written to {out}: CycloneDX 1.6" in told
    assert components(json.loads(out.read_bytes())) == {"attrs": "24.2.0"}
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir() if each.name != "project"] == ["sbom.cdx.json"]
    told = project.json("sbom", "--out", str(out))
    assert (told["file"], told["components"], told["ecosystems"], told["complete"]) == (str(out), 1, {"pypi": 1}, True)


@pytest.mark.parametrize("option", [(), ("--json",)])
def test_without_a_manifest_there_is_a_reason_and_no_empty_document(project: Project, option: tuple[str, ...]) -> None:
    done = project.swarm("sbom", *option, exits=2)
    told = json.loads(done.stdout)["message"] if option else done.stderr
    assert "there is nothing to list: no manifest and no lock file in" in told
    assert "bomFormat" not in done.stdout


def test_a_project_that_needs_nothing_has_an_empty_document(project: Project) -> None:
    project.write("pyproject.toml", '[project]\nname = "calc"\nversion = "1.0"\ndependencies = []\n')
    document = json.loads(project.swarm("sbom").stdout)
    assert document["components"] == []
    assert document["metadata"]["component"]["name"] == "calc"


def test_what_cannot_be_read_makes_it_incomplete_and_the_exit_code_one(project: Project, tmp_path: Path) -> None:
    project.write("requirements.txt", "attrs==24.2.0\n")
    project.write("Cargo.lock", "[[package]\n")
    out = tmp_path / "x.json"
    told = project.swarm("sbom", "--out", str(out), exits=1).stdout
    assert "INCOMPLETE, cannot be read: Cargo.lock:1:" in told
    assert json.loads(out.read_text())["compositions"][0]["aggregate"] == "incomplete"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--out", "{tmp}/nowhere/x.json"), "there is no folder"),
        (("--out", "{tmp}"), "is a folder"),
        (("--out", "{root}/.git/x.json"), "lies in .git or .swarm"),
        (("--out", ""), "the value is empty"),
        (("--spec", "1.3"), "CycloneDX 1.3 is not written here"),
    ],
)
def test_bad_options_are_named(project: Project, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    project.write("requirements.txt", "attrs==24.2.0\n")
    given = [each.format(tmp=tmp_path, root=project.root) for each in arguments]
    done = project.swarm("sbom", *given, exits=2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_outside_of_a_repository(tmp_path: Path) -> None:
    assert "is not in a git repository" in Project(tmp_path).swarm("sbom", exits=2).stderr


@pytest.mark.slow
def test_unlocked_dependencies_get_the_versions_that_are_installed(project: Project) -> None:
    project.write("requirements.txt", "Rich>=13\nattrs==24.2.0\nhttpx\nsix==1.*\n")
    environment(
        project.root / ".venv",
        ("rich", "13.9.4", "Pygments>=2"), ("Pygments", "2.18.0", "six"), ("attrs", "25.1.0", ""),
        ("six", "1.17.0", ""), ("unrelated", "1.0", ""),
    )  # fmt: skip
    done = project.swarm("sbom", "--environment")
    document = json.loads(done.stdout)
    assert components(document) == {
        "rich": "13.9.4", "Pygments": "2.18.0", "attrs": "24.2.0", "httpx": "", "six": "1.17.0",
    }  # fmt: skip
    origins = {each["name"]: each["properties"] for each in document["components"] if "properties" in each}
    assert origins.keys() == {"rich", "Pygments", "six"}
    assert origins["rich"] == [{"name": "swarmgate:origin", "value": "installed in .venv"}]
    edges = {row["ref"]: row.get("dependsOn", []) for row in document["dependencies"]}
    assert edges["pkg:pypi/rich@13.9.4"] == ["pkg:pypi/pygments@2.18.0"]
    asked = ["pkg:pypi/attrs@24.2.0", "pkg:pypi/httpx", "pkg:pypi/rich@13.9.4", "pkg:pypi/six@1.17.0"]
    assert edges["root-component"] == asked, "six, too: the project asks for it itself"
    assert "3 as installed in .venv" in done.stderr
    assert "note: attrs is pinned at 24.2.0, and 25.1.0 is installed in .venv" in done.stderr
    assert "note: httpx is not installed in .venv: it has no version" in done.stderr


@pytest.mark.slow
def test_what_a_lock_pins_is_not_overruled_and_edges_lead_to_it(project: Project) -> None:
    project.write("requirements.txt", "rich>=13\nPygments==2.17\n")
    environment(project.root / ".venv", ("rich", "13.9.4", "Pygments>=2"), ("Pygments", "2.18.0", ""))
    document = json.loads(project.swarm("sbom", "--environment").stdout)
    assert components(document) == {"rich": "13.9.4", "Pygments": "2.17"}
    edges = {row["ref"]: row.get("dependsOn", []) for row in document["dependencies"]}
    assert edges["pkg:pypi/rich@13.9.4"] == ["pkg:pypi/pygments@2.17"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("setup.py", "from setuptools import setup\nsetup(name='calc', install_requires=['rich'])\n"),
        ("setup.cfg", "[options]\ninstall_requires =\n    rich\n"),
        ("pyproject.toml", '[project]\nname = "calc"\nversion = "1"\ndynamic = [\n  "readme", "dependencies",\n]\n'),
    ],
    ids=["setup.py", "setup.cfg", "pyproject.toml"],
)
def test_what_is_asked_for_in_a_form_that_is_not_read_is_told_and_all_that_is_installed_listed(
    project: Project, path: str, text: str
) -> None:
    project.write(path, text)
    project.write("requirements-dev.txt", "six\n")
    project.write("package.json", '{"name": "calc"}')  # tells the name where the file itself does not
    environment(project.root / "venv", ("rich", "13.9.4", ""), ("six", "1.17.0", ""), ("calc", "1.0", "rich"))
    told = f"note: {path} says what it needs in a form that is not read"
    done = project.swarm("sbom")
    assert components(json.loads(done.stdout)) == {"six": ""}
    assert told in done.stderr
    done = project.swarm("sbom", "--environment")
    assert components(json.loads(done.stdout)) == {"rich": "13.9.4", "six": "1.17.0"}
    assert told in done.stderr


@pytest.mark.slow
def test_without_any_python_manifest_all_that_is_installed_is_listed(project: Project) -> None:
    empty = environment(project.root / ".venv")
    assert "there is nothing to list" in project.swarm("sbom", "--environment", exits=2).stderr
    shutil.rmtree(empty)
    environment(project.root / "venv", ("rich", "13.9.4", ""), ("six", "1.17.0", ""))
    assert components(json.loads(project.swarm("sbom", "--environment").stdout)) == {"rich": "13.9.4", "six": "1.17.0"}


@pytest.mark.slow
def test_the_active_environment_counts_where_the_project_has_none(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("requirements.txt", "rich\n")
    active = environment(tmp_path / "active", ("rich", "13.9.4", ""))
    monkeypatch.setenv("VIRTUAL_ENV", str(active))
    document = json.loads(project.swarm("sbom", "--environment").stdout)
    assert components(document) == {"rich": "13.9.4"}
    assert document["components"][0]["properties"][0]["value"] == f"installed in {active}"


@pytest.mark.slow
def test_swarmgates_own_environment_counts_where_it_is_the_active_one(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("requirements.txt", "packaging\n")
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    assert components(json.loads(project.swarm("sbom", "--environment", "--out", "-").stdout)) == {
        "packaging": metadata.version("packaging")
    }


def test_all_adds_what_is_locked_and_not_brought_by_a_plain_install(project: Project) -> None:
    project.write("pyproject.toml", POETRY_PROJECT)
    project.write("poetry.lock", POETRY_LOCK)
    plain, whole = (components(json.loads(project.swarm("sbom", *more).stdout)) for more in ((), ("--all",)))
    assert {"sphinx", "colours"}.isdisjoint(plain)
    assert whole.items() > plain.items()
    assert {"sphinx", "colours"} <= whole.keys()


@pytest.mark.slow
def test_of_two_environments_beside_manifests_one_is_read_and_the_other_is_told(project: Project) -> None:
    for folder in ("api", "worker"):
        project.write(f"{folder}/requirements.txt", "rich\n")
        environment(project.root / folder / ".venv", ("rich", "13.9.4", ""))
    done = project.swarm("sbom", "--environment")
    assert components(json.loads(done.stdout)) == {"rich": "13.9.4"}
    assert f"note: the environment {project.root / 'worker/.venv'} was not looked at" in done.stderr


def test_no_environment_ends_with_six(project: Project) -> None:
    project.write("requirements.txt", "rich\n")
    done = project.swarm("sbom", "--environment", exits=6)
    assert "there is no Python environment of" in done.stderr
    assert "python3 -m venv .venv" in done.stderr
    made = environment(project.root / ".venv")
    (made / "bin/python").unlink()
    assert "has no bin/python" in project.swarm("sbom", "--environment", exits=6).stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "python",
    ["#!/bin/sh\nexit 3\n", "#!/bin/sh\necho '[1]'\n", "#!/bin/sh\nkill -9 $PPID\n", "not a program"],
    ids=["fails", "other JSON", "kills", "no program"],
)
def test_an_environment_that_cannot_be_read_gives_no_document(project: Project, tmp_path: Path, python: str) -> None:
    project.write("requirements.txt", "rich\n")
    environment(project.root / ".venv")
    (project.root / ".venv/bin/python").unlink()
    project.write(".venv/bin/python", python, mode=0o755)
    out = tmp_path / "x.json"
    done = project.swarm("sbom", "--environment", "--out", str(out), exits=6)
    assert "cyclonedx-py could not read the environment" in done.stderr
    assert "Traceback" not in done.stderr
    assert not out.exists()


def test_a_package_without_a_name_gives_no_document(project: Project) -> None:
    project.write("requirements.txt", "rich\n")
    root = environment(project.root / ".venv", ("rich", "13.9.4", ""))
    (described,) = root.rglob("METADATA")
    described.write_text("Metadata-Version: 2.1\n")
    assert "cyclonedx-py could not read" in project.swarm("sbom", "--environment", exits=6).stderr


@pytest.mark.slow
def test_of_two_installed_versions_none_is_told(project: Project) -> None:
    project.write("requirements.txt", "rich\n")
    root = environment(project.root / ".venv", ("rich", "13.9.4", "six"), ("six", "1.17.0", ""))
    (folder,) = root.rglob("six-*.dist-info")
    other = folder.with_name("six-1.16.0.dist-info")
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: six\nVersion: 1.16.0\n")
    done = project.swarm("sbom", "--environment")
    assert components(json.loads(done.stdout)) == {"rich": "13.9.4", "six": ""}
    assert "note: six is there in several versions for .venv: none is told" in done.stderr


@pytest.mark.skipif(SANDBOX == "none", reason="this machine has no sandbox")
def test_the_python_of_the_environment_runs_confined(project: Project, tmp_path: Path) -> None:
    project.write("requirements.txt", "rich\n")
    environment(project.root / ".venv")
    (project.root / ".venv/bin/python").unlink()
    places = {"ran": project.root / "ran", "in git": project.root / ".git/escaped", "outside": tmp_path / "escaped"}
    lines = "".join(f"echo here > '{place}'\n" for place in places.values())
    project.write(".venv/bin/python", f"#!/bin/sh\n{lines}echo '[]'\n", mode=0o755)
    project.swarm("sbom", "--environment", exits=6)
    assert [name for name, place in places.items() if place.exists()] == ["ran"]
