"""Finds the oldest Python version that the project supports, and syntax too new for it."""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.config import toml_text
from swarmgate.errors import MissingRequirement
from swarmgate.gates.builds import python as build_python
from swarmgate.gates.lint import ruff
from swarmgate.gates.syntax import python
from swarmgate.gates.syntax.problem import Problem
from swarmgate.gates.tools.run import Broken, invoke
from swarmgate.workspace.files import regular
from swarmgate.workspace.process import temporary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from swarmgate.gates.job import Job
    from swarmgate.gates.source.file import SourceFile

OLDEST = 7
"""The first minor version that ruff's `--target-version` knows."""

_HERE = sys.version_info.minor
_PEP_701 = 12
_ADDED = re.compile(r" on Python 3\.\d+ \(syntax was added in Python 3\.(\d+)\)$")
_LOWEST = re.compile(r"python_requires\s*=\s*[\"']?\s*[^\n\"']*?(?:>=|~=|==|>)\s*3\.(\d+)")
_TARGET = re.compile(r"py3(\d+)")
_INLINE = re.compile(rb"^# requires-python\s*=\s*[\"'][^\"'\n]*?(?:>=|~=|==|>)\s*3\.(\d+)", re.MULTILINE)
# What may be newer than a version, in no more than its looks: only then is it worth a call of ruff.
_NEWER = (
    (8, rb":=|[(,]\s*/\s*[,)]|\b(?:return|yield)\b[^\n]*,\s*\*"),
    (9, rb"^\s*@[^\n]*[\[(]|\bwith\s*\(|\bfor\b[^\n]*\bin\b[^\n]*\*"),
    (10, rb"^\s*match\b[^\n]*:"),
    (11, rb"\bexcept\s*\*|[\w)\]]\[(?:[^\]\n]*,)?\s*\*\w|\*\w+\s*:\s*\*"),
    (
        12,
        rb"^\s*type\s+\w+|^\s*(?:async\s+def|def|class)\s+\w+\s*\["
        + (rb"|[fF][rR]?[\"']" if _HERE >= _PEP_701 else rb""),
    ),
    (14, rb"\b[tT][rR]?[\"']|\bexcept\s+[\w.]+\s*,"),
)
_OWN_VERSION = re.compile(r"(?:py|python)_?3_?\d+|[_-]3\d{1,2}\b", re.IGNORECASE)


class Opinion(NamedTuple):
    """What ruff's parser says of one content at one version: what is plainly wrong, and what is only too new."""

    wrong: tuple[Problem, ...] = ()
    newer: tuple[tuple[int, Problem], ...] = ()


class Judge:
    """Judges the Python of one change; `tool` says by what.

    Args:
        root: the repository, whose project files tell the oldest version.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._targets: dict[str, int | None] = {}
        self._opinions: dict[tuple[int, bytes], Opinion] = {}
        self._compiled: dict[bytes, Problem | None] = {}
        self.tool = f"Python {sys.version_info.major}.{_HERE}.{sys.version_info.micro}"

    async def ask(self, job: Job, sources: Sequence[SourceFile]) -> str:
        """Ask ruff about these files where the compiler alone cannot tell; why it could not be asked, or empty."""
        selected = [source for source in sources if self._open(source)]
        if not selected:
            return ""
        reason = await self._ask(job, {(self._version(source), source.content) for source in selected})
        again = [source for source in selected if source.base_path and self._uses(source)]
        if again and not reason:
            base = job.repository.read_many(job.change.base, [source.base_path for source in again])
            known = {(self._version(source), base[source.base_path]) for source in again if source.base_path in base}
            reason = await self._ask(job, known)
        return reason

    def check(self, source: SourceFile) -> list[Problem] | str:
        """What is wrong with a Python file; a word where it is newer than this interpreter."""
        problem, target = self._check(source.content), self._target(source)
        opinion = self._opinions.get((self._version(source), source.content), Opinion())
        if problem:
            newer = [minor for minor, _ in opinion.newer if minor > _HERE]
            if newer and not opinion.wrong and (target is None or target >= max(newer)):
                return f"Python newer than {python.VERSION}"
            return [problem]
        if target is None or _OWN_VERSION.search(source.path) or source.path.endswith(".pyi"):
            return []
        return [each for minor, each in opinion.newer if minor > target][:1]

    def _open(self, source: SourceFile) -> bool:
        target = self._target(source)
        older = target is not None and target < _HERE and _is_newer(source.content, target)
        return older or self._check(source.content) is not None

    def _check(self, content: bytes) -> Problem | None:
        if content not in self._compiled:
            self._compiled[content] = python.check(content)
        return self._compiled[content]

    def _uses(self, source: SourceFile) -> bool:
        return bool(self._opinions.get((self._version(source), source.content), Opinion()).newer)

    def _version(self, source: SourceFile) -> int:
        target = self._target(source)
        return max(OLDEST, min(_HERE, _HERE if target is None else target))

    def _target(self, source: SourceFile) -> int | None:
        inline = _INLINE.search(source.content[:2000])
        return int(inline[1]) if inline else self._folder(PurePosixPath(source.path).parent.as_posix())

    def _folder(self, folder: str) -> int | None:
        if folder not in self._targets:
            own = target(self._root / folder)
            above = PurePosixPath(folder).parent.as_posix()
            self._targets[folder] = own if own is not None or folder in {".", ""} else self._folder(above)
        return self._targets[folder]

    async def _ask(self, job: Job, contents: Iterable[tuple[int, bytes]]) -> str:
        by_version: defaultdict[int, list[bytes]] = defaultdict(list)
        for version, content in contents:
            if (version, content) not in self._opinions:
                by_version[version].append(content)
        try:
            for version, batch in by_version.items():
                result = await _ruff(job, version, batch)
                if isinstance(result, Broken):
                    return result.reason
                self._opinions |= {(version, content): each for content, each in result.items()}
            self.tool = f"{self.tool.partition(', ruff')[0]}, {ruff.tool()}"
        except MissingRequirement:
            return "ruff is not installed: what is too new for the project's oldest Python was not looked for"
        return ""


def _is_newer(content: bytes, minor: int) -> bool:
    return any(since > minor and re.search(pattern, content, re.MULTILINE) for since, pattern in _NEWER)


def target(folder: Path) -> int | None:
    """The minor version of Python 3 that the project in this folder begins with; None when nobody says."""
    declared = build_python.target(folder)
    if declared is not None:
        return declared
    try:
        tools = toml_text.loads(regular.text(folder / "pyproject.toml"))
        found = _TARGET.findall(
            json.dumps([toml_text.table(tools, "tool", name).get("target-version", "") for name in ("ruff", "black")])
        )
        if found:
            return min(map(int, found))
    except (OSError, ValueError):
        pass
    for name in ("setup.cfg", "setup.py"):
        try:
            match = _LOWEST.search(regular.text(folder / name, errors="replace"))
        except OSError:
            continue
        if match:
            return int(match[1])
    return None


async def _ruff(job: Job, version: int, contents: Sequence[bytes]) -> Mapping[bytes, Opinion] | Broken:
    """One call for all: the contents as files of a folder where no configuration has a say."""
    with temporary.folder("syntax") as folder:
        for number, content in enumerate(contents):
            (folder / f"{number}.py").write_bytes(content)
        argv = [ruff.program(), "check", "--isolated", "--no-cache", "--exit-zero", "--select", "E9",
                "--output-format", "json", "--target-version", f"py3{version}", str(folder)]  # fmt: skip
        done = await invoke(job, [argv], env=ruff.ENVIRONMENT, own=True)
        if isinstance(done, Broken):
            return done
        try:
            found = python.read_ruff(done[0].stdout)
        except (ValueError, KeyError, TypeError) as error:
            return Broken(f"ruff's output is not understood: {error}")
        by_number = {Path(path).stem: problems for path, problems in found.items()}  # macOS spells the folder otherwise
        return {content: _opinion(by_number.get(str(number), ())) for number, content in enumerate(contents)}


def _opinion(problems: Iterable[Problem]) -> Opinion:
    wrong, newer = [], []
    for problem in problems:
        added = _ADDED.search(problem.message)
        if added:
            newer.append((int(added[1]), problem))
        else:
            wrong.append(problem)
    return Opinion(tuple(wrong), tuple(newer))
