"""The record that facades are made from: what it reads when, and that it is the same for all of them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from swarmgate.domain.progress import Progress
from swarmgate.engine import Swarm
from swarmgate.errors import ConfigError, NotAProject
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.project import Project


@pytest.fixture
def folder(repo: Path) -> SwarmFolder:
    made = SwarmFolder(repo)
    made.create()
    return made


def test_what_nobody_needs_is_not_read(folder: SwarmFolder) -> None:
    folder.config.write_text("no toml")
    project = Project(folder.root)
    assert project.folder.root == folder.root
    with pytest.raises(ConfigError):
        _ = project.config
    assert Project(folder.root / "nowhere").start.name == "nowhere"
    with pytest.raises(NotAProject, match="no folder"):
        _ = Project(folder.root / "nowhere").folder


def test_a_project_in_a_folder_of_a_repository_is_that_folder(folder: SwarmFolder) -> None:
    package = folder.root / "src"
    folder.path.rename(package / ".swarm")
    repository = Project(package).repository()
    assert (repository.root, repository.top) == (package, folder.root)
    assert repository.list_tree(repository.head_tree()) == ("app.py",)


def test_it_cannot_be_changed_and_is_read_anew_as_another_one(folder: SwarmFolder) -> None:
    project = Project(folder.root, flags={"loop": {"max_rejections": 4}})
    with pytest.raises(FrozenInstanceError):
        project.start = Path()  # type: ignore[misc]  # what is shown
    assert project.config.automation.mode == "manual"
    folder.config.write_text('[automation]\nmode = "auto"\n')
    assert project.config.automation.mode == "manual"
    told: list[Progress] = []
    again = project.anew(listener=told.append)
    assert (again.config.automation.mode, again.config.loop.max_rejections) == ("auto", 4)
    again.notice("read anew")
    assert [(each.kind, each.text) for each in told] == [("notice", "read anew")]


def test_keys_of_its_providers_are_redacted_wherever_they_stand(folder: SwarmFolder) -> None:
    folder.config.write_text(
        '[providers.a]\nbase_url = "http://127.0.0.1:9/v1"\napi_key_env = "A_KEY"\n'
        '[providers.b]\nbase_url = "http://127.0.0.1:9/v1"\napi_key_env = "B_KEY"\n'
    )
    project = Project(folder.root, environ={"A_KEY": " opensesame-1 ", "B_KEY": ""})
    assert project.keys == ("opensesame-1",)
    assert project.redact("it is opensesame-1, or sk-abcdefghijklmnopqrst") == "it is [redacted], or [redacted]"


def test_a_facade_and_its_parts_work_on_one_project(folder: SwarmFolder) -> None:
    swarm = Swarm(folder.root, environ={"X": "1"})
    with swarm.project.writing() as ledger:
        assert ledger.state.seq == swarm.state.seq == swarm.project.state.seq
    assert swarm.folder is swarm.project.folder
    assert swarm.config is swarm.project.config
