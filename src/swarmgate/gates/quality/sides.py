"""Both sides of a change: each code file as it is now and as it was, and what stood in the files that are gone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from swarmgate.gates.project.files import Trait, language_of, traits_of
from swarmgate.gates.source.encodings import in_utf8

if TYPE_CHECKING:
    from swarmgate.gates.job import Job
    from swarmgate.gates.source.file import SourceFile

_CODE = frozenset(
    {
        "bash", "c", "cpp", "csharp", "dart", "elixir", "erlang", "go", "groovy", "haskell", "java", "javascript",
        "kotlin", "lua", "perl", "php", "powershell", "python", "r", "ruby", "rust", "scala", "svelte", "swift",
        "typescript", "vue", "zig",
    }
)  # fmt: skip
_FURTHER = (".m", ".mm", ".sol", ".f90", ".f95", ".f03", ".f08")
"""Code that only lizard knows: Objective-C, Solidity, Fortran."""


@dataclass(frozen=True)
class File:
    """One code file of the change. `before` is its content in the base, empty for an added file."""

    source: SourceFile
    before: bytes = b""

    @property
    def path(self) -> str:
        """Where it is now."""
        return self.source.path

    @property
    def is_test(self) -> bool:
        """Whether it is a test or lies among tests."""
        return Trait.TEST in self.source.traits or self.path.startswith("testing/")

    @cached_property
    def now(self) -> str:
        """The text as it is."""
        return text_of(self.source.content)

    @cached_property
    def was(self) -> str:
        """The text in the base."""
        return text_of(self.before)


@dataclass(frozen=True)
class Change:
    """The code files of a change; `gone` are those that it deleted."""

    files: tuple[File, ...]
    gone: tuple[File, ...] = ()

    @cached_property
    def fresh(self) -> dict[str, frozenset[int]]:
        """The added lines of each file, without those whose text the change took away elsewhere: they were moved."""
        left = Counter(line for file in (*self.files, *self.gone) for line in _stripped(file.was))
        for file in self.files:
            added = file.source.added_lines
            left.subtract(line for number, line in enumerate(_stripped(file.now), 1) if number not in added)
        fresh = {}
        for file in self.files:
            lines, new = _stripped(file.now), set()
            for number in sorted(file.source.added_lines):
                text = lines[number - 1] if number <= len(lines) else ""
                if left[text] > 0:
                    left[text] -= 1
                elif text:
                    new.add(number)
            fresh[file.path] = frozenset(new)
        return fresh

    @cached_property
    def product(self) -> tuple[File, ...]:
        """The files that are no tests."""
        return tuple(file for file in self.files if not file.is_test)


def is_code(path: str, language: str) -> bool:
    """Whether a file holds program code: data, markup, styles and documents have no complexity."""
    return (language in _CODE or path.lower().endswith(_FURTHER)) and not path.endswith(".pyi")


def read(job: Job) -> Change:
    """The code files of the job with their base content, read in one go; deleted ones that the gate asks for too."""
    from swarmgate.gates.source.file import SourceFile  # noqa: PLC0415 - late: for the deleted files alone

    sources = [source for source in job.sources if is_code(source.path, source.language)]
    if not sources:
        return Change(())
    wanted = job.definition.files
    deleted = [
        SourceFile.of(path=file.path, language=language_of(file.path), traits=traits_of(file.path))
        for file in job.change.files
        if not file.exists and not file.binary and file.old_mode.startswith("100")
    ]
    deleted = [each for each in wanted.select(deleted).sources if is_code(each.path, each.language)]
    paths = [source.base_path for source in sources if source.base_path] + [source.path for source in deleted]
    contents = job.repository.read_many(job.change.base, paths) if paths else {}
    return Change(
        files=tuple(File(each, in_utf8(each.language, contents.get(each.base_path, b""))) for each in sources),
        gone=tuple(File(source, contents.get(source.path, b"")) for source in deleted),
    )


def _stripped(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n")]


def text_of(content: bytes) -> str:
    r"""A file's text with `\n` line ends; bytes that are no UTF-8 are read as Latin-1."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")
