"""What is hidden from a command is neither read nor listed, by every kind of sandbox."""

from __future__ import annotations

from pathlib import Path

from swarmgate.workspace.sandbox.bubblewrap import Bubblewrap
from swarmgate.workspace.sandbox.confinement import Confinement
from swarmgate.workspace.sandbox.landlock import Landlock
from swarmgate.workspace.sandbox.seatbelt import profile


def bounds(tmp_path: Path) -> Confinement:
    root = tmp_path / "project"
    git, kept = root / ".git", root / "src"
    git.mkdir(parents=True)
    kept.mkdir()
    return Confinement(root=root, home=tmp_path / "home", guarded=(git, root), hidden=(git,))


def test_every_sandbox_is_told_what_is_hidden(tmp_path: Path) -> None:
    bound = bounds(tmp_path)
    git, root = str(bound.hidden[0]), str(bound.root)
    mounts = Bubblewrap("bwrap").argv(["true"], bound, tmp_path)
    assert mounts[mounts.index(git, len(mounts) - 1 - mounts[::-1].index(git)) - 1] == "--tmpfs"
    shown = Landlock(5).argv(["true"], bound, tmp_path)
    assert str(bound.root / "src") in shown
    assert git not in shown
    assert root not in shown
    last = next(line for line in reversed(profile(bound).splitlines()) if git in line)
    assert last.startswith("(deny file-read* file-write*")
