"""Copies files to a temporary folder to scan them there, away from the project's tool configuration."""

from __future__ import annotations

import itertools
import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.workspace.process import temporary

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from swarmgate.gates.source.file import SourceFile

_SUFFIXES = {
    "bash": (".sh", ".bash"), "c": (".c", ".h"), "cpp": (".cpp", ".cc", ".cxx", ".h", ".hh", ".hpp", ".hxx"),
    "csharp": (".cs",), "dockerfile": (".dockerfile", "/dockerfile"), "go": (".go",), "java": (".java",),
    "javascript": (".js", ".jsx", ".mjs", ".cjs"), "php": (".php",), "python": (".py", ".pyi"), "ruby": (".rb",),
    "rust": (".rs",), "typescript": (".ts", ".tsx"), "yaml": (".yaml", ".yml"),
}  # fmt: skip
"""By what ends of names the engine knows a language; a copy with another gets the first, or it would be left out."""
_UNSAFE = re.compile(r"[^\w.\-/]|\.\.|[.\-](?=min\.)", re.ASCII | re.IGNORECASE)
"""What a copy's name does without: what shells and globs read, and `.min.`, by which the engine leaves files out."""


@dataclass(frozen=True, slots=True)
class Copies:
    """`folder` is for a scanner's own files, `root` holds the copies, `names` maps a name below it to the source."""

    folder: Path
    root: Path
    names: dict[str, SourceFile]

    def source(self, path: str) -> SourceFile:
        """The source file of a copy, by the path that a scanner reports.

        Raises:
            KeyError: there is no such copy.
        """
        return self.names[path.removeprefix(f"{self.root}/").removeprefix("./")]

    def of_paths(self, paths: Container[str]) -> Copies:
        """The copies of some files alone, in a folder of their own."""
        selected = [source for source in self.names.values() if source.path in paths]
        root = self.folder / f"some-{next(_NUMBERS)}"
        root.mkdir()
        return Copies(self.folder, root, _written(root, selected))

    def of(self, language: str) -> dict[str, SourceFile]:
        """Absolute path of the copy -> source, of one language."""
        return {str(self.root / name): each for name, each in self.names.items() if each.language == language}


_NUMBERS = itertools.count(1)
"""What tells the folders of one run apart."""


@contextmanager
def copies(sources: Sequence[SourceFile]) -> Iterator[Copies]:
    """Write the copies, each below a numbered folder; all are deleted at the end."""
    with temporary.folder("sast") as folder:
        root = folder / "code"
        yield Copies(folder, root, _written(root, sources))


def _written(root: Path, sources: Sequence[SourceFile]) -> dict[str, SourceFile]:
    names = {}
    root.mkdir(exist_ok=True)
    (root / ".semgrepignore").write_text("")  # the engine's default leaves tests out
    for number, source in enumerate(sources):
        name = f"{number}/{_UNSAFE.sub('_', source.path.encode(errors='replace').decode())}"
        if not name.lower().endswith(_SUFFIXES.get(source.language, ("",))):
            name += _SUFFIXES[source.language][0]
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(source.content)
        names[name] = source
    return names
