"""Makes the projects that `benchmarks/gates.py` measures: git repositories with real code, and changes to it."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

from swarmgate.gates.definition import load

LINES, FEWER_LINES = 920, 235
"""About the lengths of the ten long files, and of all others."""

LONG = tuple(f"src/app/real_{number}.py" for number in range(10))
"""The long files, which are changed first."""

_LEFT_OUT = {"site-packages", "lib2to3", "data"}


def make(folder: Path, *, files: int = len(LONG)) -> Path:
    """A committed project with ten modules of about 920 lines, the rest of about 235; every gate is on."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, module in zip(LONG, _modules(LINES, len(LONG), deep=False), strict=True):
        _copied(module, folder / name)
    for number, module in enumerate(_modules(FEWER_LINES, files - len(LONG), deep=True)):
        _copied(module, folder / "src" / f"package_{number // 50}" / f"part_{number:03}.py")
    (folder / "requirements.txt").write_text("packaging==24.0\n")
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "app"\nversion = "1.0"\nrequires-python = ">=3.11"\ndependencies = ["packaging==24.0"]\n'
    )
    _git(folder, "init", "--quiet")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", "Start")
    _switch_all_on(folder)
    return folder


def change(folder: Path, *, files: int, mark: str) -> list[str]:
    """Add a function to the end of so many files (the long ones first); their paths.

    Args:
        folder: the project.
        files: how many.
        mark: makes the content another one than that of all changes with another mark.
    """
    _git(folder, "checkout", "--quiet", "--", ".")
    rest = sorted(path.relative_to(folder).as_posix() for path in (folder / "src").rglob("part_*.py"))
    changed = [*LONG, *rest][:files]
    for place in (folder / path for path in changed):
        text = place.read_text(encoding="utf-8")
        added = f'\n\ndef added_{mark}(value: int) -> int:\n    """One more than the value."""\n    return value + 1\n'
        place.write_text(text.rstrip("\n") + "\n" + added, encoding="utf-8")
    return changed


def _modules(lines: int, count: int, *, deep: bool) -> list[Path]:
    """The modules of the standard library whose length is nearest to `lines`; `deep`: those of its packages too."""
    library = Path(sysconfig.get_path("stdlib"))
    found = library.rglob("*.py") if deep else library.glob("*.py")
    named = (path for path in found if path.name.isascii() and not path.name.startswith("bad"))
    own = [path for path in named if not _LEFT_OUT & set(path.relative_to(library).parts)]
    lengths = {path: length for path in own if (length := path.read_bytes().count(b"\n"))}
    return sorted(lengths, key=lambda path: (abs(lengths[path] - lines), path.as_posix()))[:count]


def _copied(module: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(module.read_bytes().decode("utf-8", "replace"), encoding="utf-8")


def _switch_all_on(folder: Path) -> None:
    own = folder / ".swarm" / "gates"
    own.mkdir(parents=True)
    for gate in load(None):
        if not gate.enabled:
            (own / f"{gate.id}.toml").write_text("enabled = true\n")


def _git(folder: Path, *args: str) -> None:
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *args], cwd=folder, check=True, capture_output=True)
