from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer
from packaging.requirements import Requirement

import swarmgate

ROOT = Path(swarmgate.__file__).parents[2]
OF_THE_SERVER = frozenset({"argon2", "authlib", "fastapi", "limits", "prometheus_client", "redis", "socketio"})


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """The packages of this environment without those of the extra: where `pip install swarmgate` leads."""
    place = tmp_path / "packages"
    place.mkdir()
    for each in Path(typer.__file__).parents[1].iterdir():
        if each.name not in OF_THE_SERVER and not each.name.endswith((".dist-info", ".pth")):
            (place / each.name).symlink_to(each)
    return place


@pytest.mark.slow
@pytest.mark.parametrize("words", [("serve",), ("server", "status"), ("server", "restore", "x")])
def test_without_the_extra_it_is_said_how_to_install_it(bare: Path, words: tuple[str, ...]) -> None:
    source = Path(swarmgate.__file__).parent.parent
    environ = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{bare}"}
    program = f"import sys; sys.argv = ['swarm', *{words!r}]; from swarmgate.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 6, done.stderr
    assert "fastapi" in done.stderr
    assert "pip install 'swarmgate[server]'" in done.stderr


def test_the_extra_has_bounds_that_semgrep_leaves() -> None:
    """A newer OpenTelemetry than semgrep's would not resolve beside it."""
    from importlib.metadata import requires

    of_semgrep = {each.name: each for each in map(Requirement, requires("semgrep") or ())}
    for text in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["server"]:
        ours = Requirement(text)
        if ours.name.startswith("opentelemetry"):
            assert of_semgrep[ours.name].specifier.contains("1.37.0"), "semgrep pins another one: the bounds can move"
            assert ours.specifier.contains("1.37.0")
