"""What runs the server elsewhere: the image, and the unit and the proxy of docs/server.md, read by their own tools."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from swarmgate.cli.app import app
from swarmgate.config import Server

ROOT = Path(__file__).parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
PAGE = (ROOT / "docs/server.md").read_text("utf-8")


def _block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found, language
    return found[1]


def _known_options() -> set[str]:
    serve = typer.main.get_command(app).get_command(None, "serve")  # type: ignore[attr-defined]  # it is a group
    return {option for each in serve.params for option in each.opts}


def test_the_dockerfile_breaks_no_rule_of_hadolint() -> None:
    program = Path(sys.executable).parent / "hadolint"
    hadolint = str(program) if program.exists() else shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint has no wheel for this machine")
    done = subprocess.run([hadolint, str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_what_the_image_is_built_from_is_what_a_wheel_needs() -> None:
    sent = [line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")]
    assert all((ROOT / each).exists() for each in sent), "what is not there is not sent"
    hatch = (ROOT / "pyproject.toml").read_text("utf-8").partition("[tool.hatch.build.targets.sdist]")[0]
    needed = {*re.findall(r'^"([\w.-]+)(?:/\w+)?" = "swarmgate/_data', hatch, re.MULTILINE), "src", "pyproject.toml"}
    assert needed <= set(sent)


def test_the_image_runs_as_nobody_in_particular_and_listens_where_it_says() -> None:
    assert re.search(r"^USER \d{5}$", DOCKERFILE, re.MULTILINE)
    assert "EXPOSE 8642" in DOCKERFILE
    for name in re.findall(r"SWARM_SERVER__(\w+)=", DOCKERFILE):
        assert name.lower() in Server.model_fields


def test_the_unit_starts_a_command_that_is_there() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # systemd knows upper case
    unit.read_string(_block("ini"))
    program, verb, *options = unit["Service"]["ExecStart"].split()
    assert (Path(program).name, verb) == ("swarm", "serve")
    assert {option for option in options if option.startswith("--")} <= _known_options()
    assert unit["Service"]["KillMode"] == "mixed", "the server ends its workers itself"


@pytest.mark.slow
def test_systemd_finds_nothing_to_object_to(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd is not on this machine")
    text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", _block("ini"), flags=re.MULTILINE)
    (tmp_path / "swarmgate.service").write_text(text)
    done = subprocess.run(
        [analyze, "verify", "--man=no", str(tmp_path / "swarmgate.service")],
        capture_output=True,
        text=True,
        check=False,
    )
    ours = [line for line in done.stderr.splitlines() if "swarmgate.service" in line]
    assert ours == []


@pytest.mark.slow
def test_nginx_reads_the_block_of_the_page(tmp_path: Path) -> None:
    nginx = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if nginx is None:
        pytest.skip("nginx is not on this machine")
    block = re.sub(r"\s*ssl_certificate\S* .*", "", _block("nginx")).replace("443 ssl", "127.0.0.1:4443")
    (tmp_path / "nginx.conf").write_text(f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{ access_log off;\n{block}}}\n")
    done = subprocess.run(
        [nginx, "-t", "-c", str(tmp_path / "nginx.conf"), "-e", str(tmp_path / "errors")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
