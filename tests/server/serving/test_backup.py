from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.project import Project

from swarmgate.config import load
from swarmgate.domain.events.event import UsageRecorded
from swarmgate.domain.usage import Usage
from swarmgate.engine import Swarm
from swarmgate.errors import UsageError
from swarmgate.ledger.ledger import Ledger
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.accounts.model import Role
from swarmgate.server.serving import backup
from swarmgate.server.serving.backup import MANIFEST, back_up, restore

GOAL = "g-0123456789ab"


@pytest.fixture
def kept(home: Path, project: Project) -> str:
    """A home with an account and a goal that is worked on; a token of the account."""
    home.mkdir(mode=0o700)
    accounts = Accounts(home, load().server)
    ada = accounts.create("ada", roles={"*": Role.ADMIN}, password="several words in a row")
    token = accounts.sessions.issue(ada.id).access_token
    accounts.close()
    folder = home / "goals" / GOAL
    shutil.copytree(project.root, folder / "work", symlinks=True)
    (folder / "goal.json").write_text(json.dumps({"id": GOAL, "path": str(folder / "work")}))
    (folder / "work/.swarm/runtime").mkdir(exist_ok=True)
    (folder / "work/.swarm/runtime/lock").write_text("1")
    (home / "state.sqlite3").write_text("what may be lost")
    return token


def test_what_was_kept_is_there_again_in_another_place(home: Path, kept: str, tmp_path: Path) -> None:
    made = back_up(home, tmp_path / "backup")
    assert (made.goals, made.councils) == (1, 0)
    place = tmp_path / "restored"
    restore(tmp_path / "backup", place)
    accounts = Accounts(place, load().server)
    assert accounts.verify(kept).account.name == "ada"
    assert accounts.check_password("ada", "several words in a row").name == "ada"
    accounts.close()
    record = json.loads((place / "goals" / GOAL / "goal.json").read_text())
    assert record["path"] == str(place / "goals" / GOAL / "work")
    assert all(check.passed for check in Swarm(record["path"]).verify())
    assert not (place / "goals" / GOAL / "work/.swarm/runtime/lock").exists()
    assert not (place / "state.sqlite3").exists()
    assert not (place / MANIFEST).exists()
    assert (place.stat().st_mode & 0o777, (place / "server.sqlite3").stat().st_mode & 0o777) == (0o700, 0o600)


@pytest.mark.slow
def test_a_goal_that_is_worked_on_meanwhile_is_of_one_moment(home: Path, kept: str, tmp_path: Path) -> None:
    del kept
    work, done = home / "goals" / GOAL / "work", threading.Event()

    def append() -> None:
        with Ledger.write(Swarm(work).folder) as ledger:
            while not done.wait(0.15):
                ledger.append([UsageRecorded(role="coder", usage=Usage(calls=1))], expect=ledger.state.seq)

    writing = threading.Thread(target=append)
    writing.start()
    try:
        for number in range(3):
            back_up(home, tmp_path / f"backup-{number}")
    finally:
        done.set()
        writing.join()
    for number in range(3):
        copy = tmp_path / f"backup-{number}" / "goals" / GOAL / "work"
        assert [check for check in Swarm(copy).verify() if not check.passed] == []


def test_what_never_rests_is_said_to_have_to_be_paused(
    home: Path, kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del kept
    real, ledger = backup._copy_tree, home / "goals" / GOAL / "work/.swarm/ledger.jsonl"

    def copy(source: Path, target: Path) -> bool:
        with ledger.open("a") as file:
            file.write("\n")
        return real(source, target)

    monkeypatch.setattr(backup, "_copy_tree", copy)
    with pytest.raises(UsageError, match="changes faster") as refused:
        back_up(home, tmp_path / "backup")
    assert GOAL in refused.value.hint
    assert not any(tmp_path.glob("*backup*")), "nothing half is left"


def test_nothing_is_overwritten(home: Path, kept: str, tmp_path: Path) -> None:
    del kept
    back_up(home, tmp_path / "backup")
    with pytest.raises(UsageError, match="nothing is overwritten"):
        back_up(home, tmp_path / "backup")
    with pytest.raises(UsageError, match="nothing is overwritten"):
        restore(tmp_path / "backup", home)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="nothing is overwritten"):
        back_up(home, tmp_path / "link")


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda at: (at / MANIFEST).unlink(), "is no backup"),
        (lambda at: (at / MANIFEST).write_text('{"form": 99}'), "another form"),
        (lambda at: (at / "goals" / GOAL / "goal.json").unlink(), "is not whole"),
        (lambda at: os.truncate(at / "server.sqlite3", 4096 * 3), "is damaged"),
    ],
)
def test_a_backup_that_is_not_whole_is_refused(home: Path, kept: str, tmp_path: Path, damage: Any, told: str) -> None:
    del kept
    back_up(home, tmp_path / "backup")
    damage(tmp_path / "backup")
    with pytest.raises(UsageError, match=told):
        restore(tmp_path / "backup", tmp_path / "restored")
    assert not (tmp_path / "restored").exists()


def test_where_there_is_no_home_there_is_nothing_to_copy(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no server's home"):
        back_up(tmp_path, tmp_path / "backup")
