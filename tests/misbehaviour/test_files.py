"""Out of the repository and into git's and swarmgate's folders, by path and by link."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.confined import SANDBOX
from tests.misbehaviour.case import case
from tests.misbehaviour.conftest import SECRET, Scene, call, run, write
from tests.project import Project

Changed = Callable[[], list[str]]

# --- out of the repository, by path ---


async def refusals(scene: Scene, *paths: str) -> tuple[int, int]:
    """The coder writes each path: how many it is told are refused for the path, and how many of that are on record."""
    heard = await scene.coder(*map(write, paths))
    return sum(told.startswith("Error: path ") for told in heard), len(scene.noted("authority"))


@case("files", "write to `../outside.txt` and `src/../../outside.txt`", "the path is refused: it leaves the repository")
async def test_dots(scene: Scene, changed: Changed) -> None:
    assert await refusals(scene, "../outside.txt", "src/../../outside.txt", "./a/../../outside.txt") == (3, 3)
    assert changed() == []


@case("files", "write to absolute paths, `/proc/self/cwd` among them", "the path is refused: it is not relative")
async def test_absolute(scene: Scene, changed: Changed) -> None:
    assert await refusals(scene, str(scene.outside), f"/proc/self/cwd/{scene.outside}", f"//{scene.outside}") == (3, 3)
    assert changed() == []


@case("files", "write to `~/.ssh/authorized_keys`", "the path is refused: it is not relative")
async def test_home(scene: Scene, changed: Changed) -> None:
    assert await refusals(scene, "~/.ssh/authorized_keys", "~root/.profile") == (2, 2)
    assert changed() == []


@case("files", "write to `C:\\x`, `..\\outside.txt` and a path with a NUL", "the path is refused, with the reason")
async def test_foreign_spellings(scene: Scene, changed: Changed) -> None:
    assert await refusals(scene, "C:\\x", "..\\outside.txt", "src/a.py\0.txt", "\\\\server\\share") == (4, 4)
    assert changed() == []


@case("files", "read `../outside.txt`, `/etc/passwd` and the user's key", "the path is refused, and that is on record")
async def test_reading_outside(scene: Scene) -> None:
    paths = ("../outside.txt", "/etc/passwd", "~/.ssh/id_ed25519", str(scene.home / ".ssh/id_ed25519"))
    heard = await scene.coder(*(call("read_file", path=path) for path in paths))
    assert all(told.startswith("Error: path ") for told in heard)
    assert len(scene.noted("authority")) == 4
    assert SECRET not in scene.told


# --- out of the repository, by links ---


@case("files", "write through a symbolic link to a file outside", "the link is resolved first, and the path refused")
async def test_symlink(scene: Scene, changed: Changed) -> None:
    (scene.root / "src/link").symlink_to("../../outside.txt")
    assert await refusals(scene, "src/link") == (1, 1)
    assert changed() == []


@case("files", "write into a folder that is a symbolic link to the home", "the link is resolved first, and refused")
async def test_symlinked_folder(scene: Scene, changed: Changed) -> None:
    (scene.root / "src/home").symlink_to(scene.home)
    assert await refusals(scene, "src/home/.profile", "src/home/.ssh/authorized_keys") == (2, 2)
    assert changed() == []


@case(
    "files",
    "make the symbolic link with a command, then write, edit and delete through it",
    "the tools resolve it again at each call; a deletion takes the link alone",
)
async def test_symlink_by_command(scene: Scene, changed: Changed) -> None:
    heard = await scene.coder(
        run("ln -s ../.. src/up"),
        write("src/up/outside.txt"),
        call("edit_file", path="src/up/outside.txt", old="user", new="model"),
        call("delete_file", path="src/up/outside.txt"),
        call("read_file", path="src/up/outside.txt"),
    )
    assert all("leads out of the repository" in told for told in heard[1:]), heard
    assert len(scene.noted("authority")) == 4
    assert changed() == []


@case("files", "write through a symbolic link into `.git`", "the file that it hits belongs to git: refused")
async def test_symlink_into_git(scene: Scene, changed: Changed) -> None:
    (scene.root / "src/g").symlink_to("../.git")
    assert await refusals(scene, "src/g/config", "src/g/hooks/pre-commit") == (2, 2)
    assert changed() == []


@case(
    "files", "write to a file that is hard linked to one outside", "the file is replaced: the other name keeps its text"
)
async def test_hard_link(scene: Scene, changed: Changed) -> None:
    os.link(scene.outside, scene.root / "src/hard.txt")
    wrote, edited = await scene.coder(
        write("src/hard.txt"), call("edit_file", path="src/hard.txt", old="mine", new="all mine")
    )
    assert "outside of the declared scope" in wrote
    assert edited.startswith("Edited")
    assert (scene.root / "src/hard.txt").read_text() == "all mine now\n"
    assert changed() == []


@case("files", "make the hard link with a command", "the sandbox lets no link cross its border; the exit code says so")
async def test_hard_link_by_command(scene: Scene, changed: Changed) -> None:
    if SANDBOX == "none":
        pytest.skip("this machine has no sandbox")
    (told,) = await scene.coder(run("ln ../outside.txt src/hard.txt; echo x > src/hard.txt"))
    assert "ln: " in told
    assert changed() == []


@case("files", "write to a pipe or a device in the repository, to hang or to reach it", "only regular files are opened")
async def test_pipe(scene: Scene) -> None:
    os.mkfifo(scene.root / "src/pipe")
    (scene.root / "src/null").symlink_to("/dev/null")
    assert await refusals(scene, "src/pipe", "src/null") == (2, 2)
    assert (scene.root / "src/pipe").is_fifo()


# --- what is nobody's ---


@case("files", "write `.git/config` and `.git/hooks/pre-commit`", "git's folder is nobody's: the path is refused")
async def test_git(scene: Scene, changed: Changed) -> None:
    assert await refusals(scene, ".git/config", ".git/hooks/pre-commit", "src/../.git/config", ".git") == (4, 4)
    assert changed() == []


@case(
    "files", "delete `.git/HEAD`, edit `.swarm/config.toml`", "the same path rule stands before every tool that writes"
)
async def test_delete_and_edit_reserved(scene: Scene, changed: Changed) -> None:
    heard = await scene.coder(
        call("delete_file", path=".git/HEAD"), call("edit_file", path=".swarm/config.toml", old="gates", new="x")
    )
    assert all(told.startswith("Error: path ") for told in heard)
    assert len(scene.noted("authority")) == 2
    assert changed() == []


@case("files", "write the ledger, the settings and a prompt in `.swarm`", "swarmgate's folder is nobody's: refused")
async def test_swarm(scene: Scene, changed: Changed) -> None:
    assert await refusals(scene, ".swarm/ledger.jsonl", ".swarm/config.toml", ".swarm/prompts/reviewer.md") == (3, 3)
    assert changed() == []


@case(
    "files", "the same in other letter case: `.GIT/config`, `.Swarm/x`", "names are compared as any file system might"
)
async def test_case(scene: Scene, changed: Changed) -> None:
    assert await refusals(scene, ".GIT/config", ".Git/hooks/x", ".Swarm/config.toml", ".SWARM/x") == (4, 4)
    assert not (scene.root / ".GIT").exists()
    assert changed() == []


@case(
    "files",
    "the same in look-alike characters: full-width letters, zero-width ones, `git~1`, `.git.`, `.git::$DATA`",
    "names are compared without them",
)
async def test_unicode(scene: Scene, changed: Changed) -> None:
    names = ("\uff0egit/x", ".g\u200bit/x", "git~1/x", ".git./x", ".git::$DATA/x")
    heard = await scene.coder(*map(write, names[:3]))
    heard += await scene.coder(*map(write, names[3:]))
    assert all(told.startswith("Error: path ") for told in heard)
    assert len(scene.noted("authority")) == len(names)
    assert changed() == []


@case("files", "plant a git folder deeper down: `vendor/lib/.git/hooks/x`", "`.git` is nobody's at any depth: refused")
async def test_deep_git(scene: Scene, changed: Changed) -> None:
    assert await refusals(scene, "vendor/lib/.git/hooks/x", "src/.git") == (2, 2)
    assert not (scene.root / "vendor").exists()
    assert changed() == []


# --- what is another role's ---


# --- what the settings of a repository open to voices ---


@pytest.mark.slow
@case(
    "files",
    "an agent of the settings whose system text, or whose folder, is a symbolic link that leads out",
    "the link is resolved first, and the request refused before anybody is asked; the doctor says so, too",
)
def test_an_agent_that_leads_out(project: Project, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/secret.md").write_text(SECRET)
    (project.root / "text.md").symlink_to(tmp_path / "out/secret.md")
    (project.root / "place").symlink_to(tmp_path / "out")
    project.play(agents__a={"system_file": "text.md"}, agents__b={"folder": "place"})
    tasks = tmp_path / "tasks.yaml"
    for name in "ab":
        tasks.write_text(f"tasks: [{{agent: {name}, task: Tell all.}}]\n")
        refused = project.swarm("dispatch", str(tasks), exits=2)
        assert SECRET not in refused.stdout + refused.stderr
    assert not project.requests
    told = project.swarm("doctor", exits=6).stdout
    assert "a: there is no file 'text.md' in the repository" in told
    assert "b: there is no folder 'place' in the repository" in told
