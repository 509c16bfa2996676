"""Temporary folders: one place, private, gone with what made them, also when that was killed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import swarmgate
from swarmgate.errors import WorkspaceError
from swarmgate.workspace.files import atomic
from swarmgate.workspace.process import identity, temporary

if TYPE_CHECKING:
    from collections.abc import Callable

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process began")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's folder for temporary files."""
    made = tmp_path.resolve() / "tmp"
    made.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(made))
    return made


def top(place: Path) -> Path:
    return place / f"swarmgate-{os.getuid()}"


def dead() -> str:
    """The name of a process that has ended."""
    script = "from swarmgate.workspace.process import identity; print(identity.own())"
    return subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.strip()


def left_by(owner: str, place: Path) -> Path:
    """What a process of that name left: a copy of a project, with a folder that nobody may write, and a link out."""
    run = top(place) / f"run-{owner}"
    locked = run / "copy-x" / "project" / "locked"
    locked.mkdir(parents=True)
    top(place).chmod(0o700)
    (locked / "file").write_text("x")
    (run / "copy-x" / "out").symlink_to(place.parent)
    locked.chmod(0o500)
    return run


def test_a_folder_is_private_and_gone_after_the_block_with_all_that_led_to_it(place: Path) -> None:
    with temporary.folder("copy") as made:
        assert made.parent == top(place) / f"run-{identity.own()}"
        assert made.name.startswith("copy-")
        assert [each.stat().st_mode & 0o777 for each in (made, made.parent, top(place))] == [0o700] * 3
        (made / "a/b").mkdir(parents=True)
        (made / "a/b/c").write_text("x")
        (made / "a/b").chmod(0o500)
        (made / "a").chmod(0o000)
    assert list(top(place).iterdir()) == []


@pytest.mark.slow
def test_many_threads_make_and_remove_folders_at_once(place: Path) -> None:
    problems: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(40):
                with temporary.folder("x") as made:
                    (made / "f").write_text("x")
        except BaseException as error:  # noqa: BLE001 - it is raised by the test
            problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert list(top(place).iterdir()) == []


def test_a_folder_that_goes_with_an_object_does(place: Path) -> None:
    class Owner:
        pass

    owner = Owner()
    made = temporary.owned("git", owner)
    assert made.is_dir()
    del owner
    assert not made.exists()


@linux
def test_what_a_dead_process_left_is_removed_by_the_next(place: Path) -> None:
    runs = [left_by(dead(), place) for _ in range(2)]
    beside = place.parent / "mine"
    beside.write_text("the user's")
    script = "from swarmgate.workspace.process import temporary\nwith temporary.folder('x'):\n    pass"
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "TMPDIR": str(place)})
    assert [run for run in runs if run.exists()] == []
    assert beside.read_text() == "the user's"


@linux
def test_what_belongs_to_a_living_process_or_to_nobody_known_stays(place: Path) -> None:
    pid, start, world = identity.own().split("-")
    names = (identity.own(), f"{pid}-{start}-00000000", "someone")
    kept = [left_by(name, place) for name in names]
    reused = left_by(f"{pid}-{int(start) - 1}-{world}", place)
    assert temporary.sweep() == ()
    assert [run.exists() for run in kept] == [True] * len(kept)
    assert not reused.exists()  # the number of a process that lives, of one that began at another time
    elsewhere = kept[1]
    os.utime(elsewhere, (time.time() - 8 * 86_400,) * 2)
    assert temporary.sweep() == ()
    assert not elsewhere.exists()


@linux
def test_a_process_that_is_killed_leaves_nothing_once_another_one_works(place: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom swarmgate.workspace.process import temporary\n"
        "made = temporary.created('copy')\n(made / 'f').write_text('x')\nprint(made, flush=True)\nsys.stdin.read()"
    )
    environ = {**os.environ, "TMPDIR": str(place)}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
    ) as process:
        assert process.stdout
        made = Path(process.stdout.readline().strip())
        assert temporary.sweep() == ()
        assert (made / "f").exists()
        process.kill()
    assert temporary.sweep() == ()
    assert not made.parent.exists()


def test_a_fork_has_a_folder_of_its_own_and_takes_none_away(place: Path) -> None:
    with temporary.folder("x") as made:
        pid = os.fork()
        if not pid:
            try:
                with temporary.folder("y") as own:
                    os._exit(int(own.parent == made.parent))
            finally:
                os._exit(9)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert made.is_dir()


def plant_a_link(name: Path, elsewhere: Path) -> None:
    name.symlink_to(elsewhere)


def plant_a_file(name: Path, elsewhere: Path) -> None:
    name.write_text(str(elsewhere))


@pytest.mark.parametrize("plant", [plant_a_link, plant_a_file])
def test_a_planted_name_is_not_used(place: Path, tmp_path: Path, plant: Callable[[Path, Path], None]) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    plant(top(place), elsewhere)
    for _ in range(2):
        with temporary.folder("x") as made:
            assert made.parent.parent.parent == place
            assert made.parent.parent.name.startswith(f"swarmgate-{os.getuid()}-")
            assert made.parent.parent.stat().st_mode & 0o777 == 0o700
    assert list(elsewhere.iterdir()) == []
    assert len(list(place.iterdir())) == 2  # the planted one and one of ours, not one a time


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_not_used(place: Path) -> None:
    top(place).mkdir(0o777)
    os.chown(top(place), 12_345, -1)
    with temporary.folder("x") as made:
        assert made.parent.parent != top(place)
    assert list(top(place).iterdir()) == []


def test_a_folder_that_others_could_enter_is_closed(place: Path) -> None:
    top(place).mkdir(0o755)
    with temporary.folder("x"):
        assert top(place).stat().st_mode & 0o777 == 0o700


@linux
@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount")
def test_what_is_mounted_in_a_leftover_is_not_emptied(place: Path, tmp_path: Path) -> None:
    source, run = tmp_path / "the user's", left_by(dead(), place)
    source.mkdir()
    (source / "file").write_text("mine")
    (run / "mounted here").mkdir()
    mounted = subprocess.run(["mount", "--bind", source, run / "mounted here"], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip(f"nothing can be mounted: {mounted.stderr!r}")
    try:
        assert temporary.sweep() == (run,)
        assert (source / "file").read_text() == "mine"
    finally:
        subprocess.run(["umount", run / "mounted here"], check=True)
    assert temporary.sweep() == ()
    assert not run.exists()


def test_a_work_tree_is_no_place_for_temporary_files(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(repo / "tmp"))
    assert not temporary.place().is_relative_to(repo)


def test_a_disk_that_refuses_is_told(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "file").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(place / "file"))
    with pytest.raises(WorkspaceError, match="no temporary folder can be made") as caught:
        temporary.created("x")
    assert "TMPDIR" in caught.value.hint
    with pytest.raises(WorkspaceError, match="no temporary file can be written"), temporary.holding(b"x"):
        pass


def test_data_is_held_for_a_program_to_read() -> None:
    for data, expected in ((b"abc", b"abc"), (b"", b""), (None, b"")):
        with temporary.holding(data) as descriptor:
            assert os.read(descriptor, 10) == expected


def test_no_other_module_makes_temporary_files() -> None:
    sources = Path(swarmgate.__file__).parent
    uses = re.compile(r"^\s*(import tempfile|from tempfile import)", re.MULTILINE)
    found = {str(file.relative_to(sources)) for file in sources.rglob("*.py") if uses.search(file.read_text())}
    assert found == {"workspace/process/temporary.py"}


# --- half written files ---


@linux
def test_half_written_files_of_dead_writers_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "quarantine").mkdir()
    gone = [folder / f".swarmgate-{dead()}-1.tmp", folder / f"deep/.swarmgate-{dead()}-2.tmp"]
    old = folder / ".swarmgate-abcdefgh.tmp"
    kept = [
        folder / f".swarmgate-{identity.own()}-1.tmp",
        folder / ".swarmgate-1-1-00000000-1.tmp",
        folder / ".swarmgate-younger_.tmp",
        folder / "quarantine" / gone[0].name,
        folder / "notes.tmp",
    ]
    for file in (*gone, old, *kept):
        file.write_text("half")
    os.utime(old, (0, 0))
    atomic.sweep(folder, spared=folder / "quarantine")
    assert [file for file in (*gone, old) if file.exists()] == []
    assert [file for file in kept if not file.exists()] == []
