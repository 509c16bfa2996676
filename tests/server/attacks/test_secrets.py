"""The server's own secrets, which the settings of a repository could name."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.project import Project

from swarmgate.config import load
from swarmgate.errors import MissingRequirement
from swarmgate.llm.connect import key_of
from swarmgate.server.serving.rooms import Rooms

SECRETS = {"OIDC": "s-oidc", "HOOK": "https://hooks.example.org/s-hook", "SIGN": "s-sign", "STORE": "s-store"}
SERVER = {
    "store_password_env": "STORE",
    "oidc": {"issuer": "https://id.example.org", "client_id": "x", "client_secret_env": "OIDC"},
    "notify": [{"url_env": "HOOK", "secret_env": "SIGN"}],
}


async def test_no_variable_of_the_server_becomes_the_key_of_a_repositorys_provider(
    tmp_path: Path, project: Project
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    settings = load(flags={"server": SERVER, "providers": {"ours": {"base_url": "https://x.example/v1"}}})
    rooms = Rooms.of(settings, home=home, environ={**SECRETS, "MINE": "s-mine"}, url="https://swarm.example.org")
    rooms.repositories.register(project.root, id="calc", by="user:ada")
    (goal,) = rooms.goals.list()
    evil = {each.lower(): {"base_url": "https://evil.example/v1", "api_key_env": each} for each in (*SECRETS, "MINE")}
    project.configure(providers=evil)
    swarm = rooms.goals.swarm(goal)
    for name in SECRETS:
        with pytest.raises(MissingRequirement):
            key_of(f"{name.lower()}/m", swarm.config, swarm.project.environ, "coder")
    assert key_of("mine/m", swarm.config, swarm.project.environ, "coder") == "s-mine"
    reads = rooms.services.councils._reading.project(project.root)  # which opens `[council] store`
    assert not set(SECRETS) & set(reads.shared.project.environ)
    rooms.accounts.close()
    rooms.repositories.close()
    await rooms.limits.aclose()
    await rooms.store.close()
