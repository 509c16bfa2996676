"""What comes along into a clean checkout: what was there before the agents, as it was, and nothing that they made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from swarmgate.workspace.checkout.backups import Backups
from swarmgate.workspace.checkout.ignored_files import IncludedFiles, Touched, present

IGNORED = (".env", "data/", "node_modules/", ".venv/", "build/", "big.bin", "src/__pycache__/")


class Ignored:
    """Ignored files of a work tree, and two runs of agents over them."""

    def __init__(self, folder: Path) -> None:
        self.root, self._state = folder / "project", folder / "state"
        self._state.mkdir()
        for path in (".env", "data/a.csv", "data/deep/b.csv", "node_modules/p/i.js", ".venv/lib/site.py", "build/x",
                     "big.bin", "src/__pycache__/m.pyc", ".venv/lib/__pycache__/site.pyc"):  # fmt: skip
            self.write(path, f"{path} of the user")
        self.write(".venv/pyvenv.cfg", "")
        self.began = self.begin()

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def begin(self, *extra: str, died_at_ns: int | None = None) -> IncludedFiles:
        copies = Backups(self.root, self._state / "copies")
        brought = IncludedFiles(self.root, copies, self._state / "ignored.json")
        ignored = (*IGNORED, *extra)
        copies.take([".env", "data/"], but=brought.begin(ignored, died_at_ns=died_at_ns))
        return brought

    def read(self, brought: IncludedFiles) -> dict[str, str]:
        """The text of each file that comes along; of a folder that is shared, of each that is not left behind."""
        found: dict[str, str] = {}
        for item in brought.items():
            if item.source.is_dir():
                files = (each for each in item.source.rglob("*") if each.is_file())
                named = {each.relative_to(self.root).as_posix(): each for each in files}
                found |= {name: place.read_text() for name, place in named.items() if name not in item.without}
            else:
                found[item.path] = item.source.read_text()
        return found


@pytest.fixture
def ignored(tmp_path: Path) -> Ignored:
    return Ignored(tmp_path)


def test_all_comes_along_but_what_was_built(ignored: Ignored) -> None:
    found = ignored.read(ignored.began)
    assert found == {path: text for path, text in found.items() if text in (f"{path} of the user", "")}
    assert set(found) == {
        ".env", "data/a.csv", "data/deep/b.csv", "node_modules/p/i.js", ".venv/lib/site.py", ".venv/pyvenv.cfg",
        "big.bin", ".venv/lib/__pycache__/site.pyc",
    }  # fmt: skip
    assert ignored.began.scan(IGNORED).installed == ()


def test_what_agents_change_comes_along_as_it_was_or_not_at_all(ignored: Ignored) -> None:
    for path in (".env", "data/a.csv", "big.bin"):
        ignored.write(path, "of an agent")
    (ignored.root / "data/deep/b.csv").unlink()
    ignored.write("data/new.py", "of an agent")
    ignored.write("lib/new.py", "of an agent")
    touched = ignored.began.scan([*IGNORED, "lib/"])
    found = ignored.read(ignored.began)
    assert "of an agent" not in found.values()
    assert {".env", "data/a.csv", "data/deep/b.csv"} <= set(found)
    assert "big.bin" not in found
    assert touched == Touched(left_out=("big.bin",), made=("data/new.py", "lib/new.py"))


@pytest.mark.parametrize("path", ["node_modules/p/i.js", "node_modules/evil/i.js", ".venv/lib/new.pth"])
def test_what_is_installed_has_to_stay_as_it_is(ignored: Ignored, path: str) -> None:
    ignored.write(path, "of an agent")
    assert ignored.began.scan(IGNORED).installed == (path,)


def test_no_program_hides_its_change_by_the_times_that_it_can_set(ignored: Ignored) -> None:
    place = ignored.root / ".venv/lib/site.py"
    before = place.stat()
    place.write_text(place.read_text().upper())
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert place.stat().st_mtime_ns == before.st_mtime_ns
    assert ignored.began.scan(IGNORED).installed == (".venv/lib/site.py",)


def test_byte_code_and_caches_are_nobodys_change(ignored: Ignored) -> None:
    ignored.write(".venv/lib/__pycache__/site.pyc", "planted")
    ignored.write(".venv/lib/__pycache__/new.pyc", "planted")
    ignored.write("node_modules/.cache/x", "a tool's")
    assert ignored.began.scan(IGNORED).installed == ()
    assert not list((ignored.root / ".venv").rglob("*.pyc"))


def test_what_agents_changed_stays_theirs_in_the_next_run_until_the_user_touches_it(ignored: Ignored) -> None:
    for path in (".env", "big.bin", ".venv/lib/site.py", "node_modules/evil/i.js"):
        ignored.write(path, "of an agent")
    ignored.write("lib/helper.py", "of an agent")
    ignored.began.scan([*IGNORED, "lib/"])
    again = ignored.begin("lib/")
    found = ignored.read(again)
    assert "of an agent" not in found.values()
    assert found[".env"] == ".env of the user"
    assert "big.bin" not in found
    assert set(again.scan(IGNORED).installed) == {".venv/lib/site.py", "node_modules/evil/i.js"}
    for path in (".env", "big.bin", ".venv/lib/site.py", "node_modules/evil/i.js"):
        (ignored.root / path).unlink()
        ignored.write(path, "of the user again")
    third = ignored.begin("lib/")
    found = ignored.read(third)
    assert third.scan(IGNORED).installed == ()
    assert [found[path] for path in (".env", "big.bin", ".venv/lib/site.py")] == ["of the user again"] * 3


def test_what_changed_in_a_step_that_died_counts_as_the_agents(ignored: Ignored) -> None:
    mark = ignored.root / "mark"
    mark.touch()
    ignored.write("node_modules/evil/i.js", "of an agent")
    ignored.write("lib/helper.py", "of an agent")
    again = ignored.begin("lib/", died_at_ns=mark.stat().st_ctime_ns)
    assert "of an agent" not in ignored.read(again).values()
    assert again.scan(IGNORED).installed == ("node_modules/evil/i.js",)


def test_where_nobody_took_note_all_comes_along(ignored: Ignored) -> None:
    found = {item.path: item.copied for item in present(ignored.root, IGNORED)}
    assert found == {".env": True, "data": False, "node_modules": False, ".venv": False, "big.bin": True}
