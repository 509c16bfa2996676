"""schemathesis asks every operation of the document for what breaks it, with and without a proof of who asks."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.project import GOAL, Project, plan
from tests.server.conftest import Running, running

from swarmgate.config import load
from swarmgate.server.accounts.model import Role

pytestmark = pytest.mark.slow

PATIENT = {"server": {"limits": {"writes_per_minute": 1_000_000, "logins_per_minute": 1_000_000}}}
LOGINS = ("POST /v1/session", "POST /v1/session/refresh")
"""What answers 401 to a proof that is made up, whoever asks."""
SETTINGS = """
[checks.positive_data_acceptance]
# What is well-formed may still be refused: it does not fit the state of things, or names what is not there.
expected-statuses = ["2xx", "400", "401", "403", "404", "409", "412", "422"]
"""


@pytest.fixture
def server(home: Path) -> Iterator[Running]:
    """A server that does not count requests."""
    with running(load(flags=PATIENT), home) as at:
        yield at


@pytest.fixture
def document(
    server: Running, account: Callable[..., httpx.Client], project: Project, tmp_path: Path
) -> tuple[Path, str]:
    """The document, whose examples name what is there; and the key of an admin."""
    project.play(plan("1.1"))
    project.swarm("plan", GOAL, exits=3)
    admin = account("ada", Role.ADMIN)
    repo = admin.post("/v1/repos", json={"source": str(project.root), "id": "shop"})
    assert repo.status_code == 201, repo.text
    goal = admin.get("/v1/goals").json()["items"][0]["id"]
    approval = admin.get("/v1/approvals").json()["items"][0]["id"]
    text = admin.get("/openapi.json").text
    for example, there in (
        ("g-3f2a9c1b7d04-plan-5", approval),
        ("g-3f2a9c1b7d04", goal),
        ("a-0c1d2e3f4a5b", server.app.state.accounts.create("cy").id),
    ):
        text = text.replace(example, there)
    place = tmp_path / "openapi.json"
    place.write_text(text)
    accounts = server.app.state.accounts
    own = next(each for each in accounts.list() if each.name == "ada")  # a session would end at the first `log_out`
    return place, f"Bearer {accounts.keys.create(own.id, 'schemathesis').secret}"


def asked(document: Path, url: str, *options: str) -> subprocess.CompletedProcess[str]:
    """What schemathesis says; it runs where its settings are."""
    (document.parent / "schemathesis.toml").write_text(SETTINGS)
    st = shutil.which("st", path=str(Path(sys.executable).parent)) or "st"
    arguments = ("run", str(document), "--url", url, "--checks", "all", "--no-color", *options)
    patient = ("--request-timeout", "120")  # `doctor` starts every tool to look at it
    without = ("--exclude-path", "/v1/events")  # never ends; tests/server/events has it
    return subprocess.run(
        [st, *arguments, *patient, *without],
        cwd=document.parent,
        env={**os.environ, "PYTHONWARNINGS": ""},
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )


def test_it_finds_nothing_with_a_key_of_an_admin(document: tuple[Path, str], server: Running) -> None:
    place, proof = document
    proven = ("--header", f"Authorization: {proof}", "--exclude-path", "/v1/keys/{key}")  # it takes its own key back
    found = asked(place, server.url, *proven, "--max-examples", "4", "--seed", "20")
    assert found.returncode == 0, found.stdout[-20_000:] + found.stderr[-2_000:]
    strangers = re.search(r"401 Unauthorized \((\d+) operation", found.stdout)
    assert strangers is None or int(strangers[1]) <= len(LOGINS), found.stdout[-5_000:]


def test_it_finds_nothing_without_a_proof_and_gets_nothing(document: tuple[Path, str], server: Running) -> None:
    place, _ = document
    found = asked(place, server.url, "--max-examples", "3", "--seed", "20", "--phases", "examples,coverage,fuzzing")
    assert found.returncode == 0, found.stdout[-20_000:] + found.stderr[-2_000:]


def test_it_finds_nothing_in_the_endpoints_of_adr_0007(
    server: Running, account: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    viewer = account("cy", Role.VIEWER)
    place = tmp_path / "agents.json"
    place.write_text(viewer.get("/api/v1/openapi.json").text)
    proof = ("--header", f"Authorization: {viewer.headers['Authorization']}")
    found = asked(place, server.url, *proof, "--max-examples", "2", "--seed", "20", "--phases", "examples,coverage")
    assert found.returncode == 0, found.stdout[-20_000:] + found.stderr[-2_000:]


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_nothing_but_a_login_is_answered_without_a_proof(document: tuple[Path, str], server: Running) -> None:
    text = json.loads(document[0].read_text())
    with httpx.Client(base_url=server.url) as anybody:
        for path, method, operation in operations(text):
            if not operation["security"]:
                continue
            filled = path
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "path":
                    example = parameter["schema"].get("examples", ["x"])[0]
                    filled = filled.replace(f"{{{parameter['name']}}}", str(example))
            answer = anybody.request(method, filled, json={} if method in {"post", "put", "patch"} else None)
            assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED"), f"{method} {path}"
