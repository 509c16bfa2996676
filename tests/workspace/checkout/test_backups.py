"""Copies of ignored files: of the user's, not of what tools make; and handed over when the file is not what it was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from swarmgate.workspace.checkout import backups
from swarmgate.workspace.checkout.backups import Backups, Skipped

ENTRIES = (".env", "output/", "dist/", "a/node_modules/", "a/app.log", "link", "pipe", "gone.txt")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for name in (".env", "output/a.txt", "output/deep/b.txt", "dist/x.js", "a/node_modules/p/i.js", "a/app.log"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"of {name}\n")
    (root / ".env").chmod(0o600)
    (root / "link").symlink_to("/etc/passwd")
    os.mkfifo(root / "pipe")
    return root


def taken(root: Path, store: Path) -> Backups:
    copies = Backups(root, store)
    assert copies.take(ENTRIES) == Skipped()
    return copies


def files(folder: Path) -> set[str]:
    return {str(place.relative_to(folder)) for place in folder.rglob("*") if not place.is_dir()}


def test_what_people_wrote_is_copied_and_what_tools_made_is_not(root: Path, tmp_path: Path) -> None:
    copies = taken(root, tmp_path / "store")
    assert files(tmp_path / "store") == {".env", "output/a.txt", "output/deep/b.txt"}
    assert (tmp_path / "store/.env").stat().st_mode & 0o777 == 0o600
    assert copies.lost() == ()


def test_what_changed_or_vanished_is_handed_over_once(root: Path, tmp_path: Path) -> None:
    copies = taken(root, tmp_path / "store")
    before = (root / ".env").stat()
    (root / ".env").write_text("OF .env\n")  # as long as before, and as old
    os.utime(root / ".env", ns=(before.st_atime_ns, before.st_mtime_ns))
    (root / "output/a.txt").unlink()
    (root / "output/deep/b.txt").touch()
    assert copies.lost() == (".env", "output/a.txt")
    copies.hand_over(copies.lost(), tmp_path / "kept")
    assert {name: (tmp_path / "kept" / name).read_text() for name in files(tmp_path / "kept")} == {
        ".env": "of .env\n",
        "output/a.txt": "of output/a.txt\n",
    }
    (root / ".env").write_text("again\n")
    assert copies.lost() == ()


@pytest.mark.parametrize("there", ["folder", "link"])
def test_another_thing_in_the_place_of_a_file_is_a_loss(root: Path, tmp_path: Path, there: str) -> None:
    copies = taken(root, tmp_path / "store")
    (root / ".env").unlink()
    (root / ".env").mkdir() if there == "folder" else (root / ".env").symlink_to(tmp_path / "store/.env")
    assert copies.lost() == (".env",)


def test_a_copy_is_used_again_and_one_of_what_is_gone_is_dropped(root: Path, tmp_path: Path) -> None:
    taken(root, tmp_path / "store")
    inode = (tmp_path / "store/.env").stat().st_ino
    (root / "output/a.txt").unlink()
    (root / "output/deep/b.txt").write_text("new\n")
    taken(root, tmp_path / "store")
    assert (tmp_path / "store/.env").stat().st_ino == inode
    assert files(tmp_path / "store") == {".env", "output/deep/b.txt"}
    assert (tmp_path / "store/output/deep/b.txt").read_text() == "new\n"


def test_copies_of_a_run_that_died_say_what_it_did(root: Path, tmp_path: Path) -> None:
    taken(root, tmp_path / "store")
    (root / ".env").write_text("gone\n")
    copies = Backups(root, tmp_path / "store")
    copies.resume()
    assert copies.lost() == (".env",)


def test_what_is_too_much_is_counted(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "output/big").write_bytes(b"x" * 1000)
    monkeypatch.setattr(backups, "MOST_BYTES", 500)
    assert Backups(root, tmp_path / "store").take(ENTRIES) == Skipped(files=1, size=1000)
    assert "output/big" not in files(tmp_path / "store")
    monkeypatch.setattr(backups, "MOST_FILES", 1)
    assert Backups(root, tmp_path / "store").take(ENTRIES).files == 3
    assert files(tmp_path / "store") == {".env"}
