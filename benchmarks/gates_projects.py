"""The projects that benchmarks/gates.py measures: git repositories with real code, and changes to it."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

from swarmgate.gates.definition import load

LINES = 920
"""The length of the changed files, about: modules of the standard library nearest to it."""

_MODULE = '''"""Part {number} of the application."""

from __future__ import annotations


def part_{number}(values: list[int]) -> int:
    """The sum of those values that {number} divides."""
    total = 0
    for value in values:
        if value % {number} == 0:
            total += value
    return total


class Part{number}:
    """Keeps what was added."""

    def __init__(self) -> None:
        self.values: list[int] = []

    def add(self, value: int) -> None:
        """Keep one more."""
        self.values.append(value)
'''


def make(folder: Path, *, files: int) -> Path:
    """A committed project with ten modules of about 920 lines and `files` files altogether; every gate is on."""
    shutil.rmtree(folder, ignore_errors=True)
    for number, module in enumerate(modules(10)):
        place = folder / "src" / "app" / f"real_{number}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(module, place)
    for number in range(1, files - 11):
        place = folder / "src" / f"package_{number // 50}" / f"part_{number}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(_MODULE.format(number=number))
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
    """Edit so many files (the long ones first): another line in the middle, a function at the end; their paths.

    Args:
        folder: the project.
        files: how many.
        mark: makes the content another one than that of all changes with another mark.
    """
    _git(folder, "checkout", "--quiet", "--", ".")
    real = sorted((folder / "src" / "app").glob("*.py"))
    rest = sorted(path for path in (folder / "src").rglob("part_*.py")) if files > len(real) else []
    changed = [*real, *rest][:files]
    for place in changed:
        text = place.read_text(encoding="utf-8")
        added = f'\n\ndef added_{mark}(value: int) -> int:\n    """One more than the value."""\n    return value + 1\n'
        place.write_text(text.rstrip("\n") + "\n" + added, encoding="utf-8")
    return [path.relative_to(folder).as_posix() for path in changed]


def modules(count: int) -> list[Path]:
    """The modules of the standard library whose length is nearest to `LINES`."""
    found = Path(sysconfig.get_path("stdlib")).glob("*.py")
    lengths = {path: path.read_bytes().count(b"\n") for path in found if path.name.isascii()}
    return sorted(lengths, key=lambda path: (abs(lengths[path] - LINES), path.name))[:count]


def _switch_all_on(folder: Path) -> None:
    own = folder / ".swarm" / "gates"
    own.mkdir(parents=True)
    for gate in load(None):
        if not gate.enabled:
            (own / f"{gate.id}.toml").write_text("enabled = true\n")


def _git(folder: Path, *args: str) -> None:
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *args], cwd=folder, check=True, capture_output=True)
