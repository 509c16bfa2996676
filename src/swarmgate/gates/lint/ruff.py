"""Runs the bundled ruff with the project's own configuration and parses its findings.

Where no ruff configuration covers a file, `BASIC` rules are used instead of ruff's own default, which changes with its
version. Of those, only what is broken blocks: a project that adopted no style has none to keep to.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections import defaultdict
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.errors import MissingRequirement, WorkspaceError
from swarmgate.gates.cache import environment
from swarmgate.gates.lint import ruff_settings
from swarmgate.gates.tools import advice
from swarmgate.gates.tools.run import OUTPUT_LIMIT, Broken, invoke, with_files
from swarmgate.workspace.files import regular
from swarmgate.workspace.files.paths import encode
from swarmgate.workspace.process import temporary

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from swarmgate.gates.cache.scan_results import Memory
    from swarmgate.gates.job import Job
    from swarmgate.workspace.process.process import Completed

BASIC = "E4,E7,E9,F,PLE"
"""Imports, statements, runtime errors of pycodestyle, pyflakes, and the errors of pylint."""

_BROKEN = re.compile(r"invalid-syntax|E9|PLE|F(?!541|842)")
"""Rules of `BASIC` that tell of broken code, by their beginning; the others are style."""

_LONG_DEFAULT = re.compile(r"invalid-syntax|E[479]|F|PLE")
"""Rules that were ruff's defaults from 0.1 on, and errors; newer versions have more, which nobody may have chosen."""

LIVED_WITH = frozenset({"F401", "F403", "F405", "F841"})
"""Rules that block in a project without settings only where the file kept to them before the change."""

UNUSED = frozenset({"F401", "F841"})
"""Unused names. What a change leaves over breaks nothing; what it writes itself and never uses, it has not finished."""

_MEANT = re.compile(r"adding to `__all__`|testing? for availability|find_spec")
"""What ruff says of an import that is there for others, or to see whether it can be imported."""

ENVIRONMENT = {"XDG_CONFIG_HOME": os.devnull, "NO_COLOR": "1"}
"""Under these, no ruff settings of the user's home take part: the project alone decides."""

_KEPT = "F401,F841"
"""Unused imports and variables: fixing leaves them, since who still types will use them; linting tells them."""

_ERRORS = ("E9", "F821", "F822", "F823", "F63", "F7")
_SECURITY = re.compile(r"S\d{3}$")
SYNTAX = "invalid-syntax"
_UNREADABLE = "E902"

SETTINGS = ruff_settings.FILES
_EXTENDS = re.compile(rb"""\bextend["']?\s*=""")


@dataclass(frozen=True, slots=True)
class Linted:
    """The result of `ruff check`: findings, and the files that do not parse.

    `unread` are files that are there and that it could not read.
    """

    findings: tuple[Finding, ...]
    unparsed: frozenset[str]
    excluded: bool = False
    unread: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ran:
    """The command lines of ruff that were run; `notes`: what of the project's settings they did without."""

    done: tuple[Completed, ...]
    notes: tuple[str, ...] = ()


def tool() -> str:
    """Name and version, without starting it."""
    return f"ruff {version('ruff')}"


def program() -> str:
    """The path of the executable.

    Raises:
        MissingRequirement: the package is there and its program is not.
    """
    from ruff import find_ruff_bin  # type: ignore[import-untyped]  # noqa: PLC0415 - no types; late: few need it

    try:
        return str(find_ruff_bin())
    except FileNotFoundError as error:
        raise MissingRequirement("ruff is not installed", hint="pip install ruff") from error


def memory_of(job: Job) -> Memory | None:
    """The cache for ruff's results on one content; None where settings extend a file outside of the key."""
    folders = environment.folders_of(job.repository.root, (source.path for source in job.sources))
    for place in (folder / name for folder in (*folders, *job.repository.root.parents) for name in SETTINGS):
        with contextlib.suppress(OSError):
            if _EXTENDS.search(regular.read(str(place))):
                return None
    return job.memory


def by_config(root: Path, paths: Iterable[str]) -> dict[bool, list[str]]:
    """The paths grouped by whether a ruff configuration of the project covers them."""
    known: dict[Path, bool] = {}
    groups: defaultdict[bool, list[str]] = defaultdict(list)
    for path in paths:
        groups[_configured(root, (root / path).parent, known)].append(path)
    return dict(groups)


async def check(job: Job, paths: Sequence[str], *, fix: bool = False) -> Linted | Broken:
    """`ruff check` over files of the working tree; with `fix`, safe fixes are applied first."""
    found: list[Finding] = []
    unparsed: set[str] = set()
    unread: set[str] = set()
    notes: list[str] = []
    excluded = 0
    notebooks = {each.path: each.content for each in job.sources if is_notebook(each.path)}
    # ruff prints a name that is no UTF-8 with replacement characters.
    names = {encode(path).decode(errors="replace"): path for path in paths}
    selecting = _selecting(job.repository.root, paths)
    for configured, group in by_config(job.repository.root, paths).items():
        argv = _argv(configured=configured, fix=fix)
        ran = await run(job, [*argv, "--force-exclude"], group)
        if isinstance(ran, Broken):
            return ran
        notes += ran.notes
        for completed in ran.done:
            linted = parse(completed.stdout, job.repository.root, notebooks)
            if isinstance(linted, Broken):
                return linted
            found += [
                _weighed(each, configured, selects=names.get(each.path, each.path) in selecting).model_copy(
                    update={"path": names.get(each.path, each.path)}
                )
                for each in linted.findings
            ]
            unparsed |= {names.get(path, path) for path in linted.unparsed}
            unread |= {names.get(path, path) for path in linted.unread}
            excluded += "No Python files found" in completed.stderr
    return Linted(
        tuple(found), frozenset(unparsed), excluded=bool(excluded) and not found, unread=frozenset(unread),
        notes=tuple(dict.fromkeys(notes)),
    )  # fmt: skip


async def run(
    job: Job,
    argv: Sequence[str],
    paths: Sequence[str],
    *,
    stdin: bytes | None = None,
    exit_codes: Container[int] = (0, 1),
) -> Ran | Broken:
    """Run ruff in the project's settings, without those that this version does not know.

    Args:
        job: the gate's job.
        argv: the command without its files.
        paths: the files; with `stdin`, the one name that the content has.
        stdin: the content instead of files.
        exit_codes: those with which ruff has done its work.
    """
    done = await _invoked(job, argv, paths, stdin, exit_codes)
    left_out: frozenset[str] = frozenset()
    while isinstance(done, Broken) and (more := ruff_settings.refused(done.reason) - left_out):
        left_out |= more
        done = await _without(job, argv, paths, left_out, stdin, exit_codes)
    return done if isinstance(done, Broken) else Ran(tuple(done), (ruff_settings.note(left_out),) if left_out else ())


async def _without(
    job: Job,
    argv: Sequence[str],
    paths: Sequence[str],
    left_out: frozenset[str],
    stdin: bytes | None,
    exit_codes: Container[int],
) -> list[Completed] | Broken:
    found: list[Completed] = []
    with temporary.folder("ruff") as folder:
        for settings, group in ruff_settings.by_file(job.repository.root, paths).items():
            own = ["--config", str(ruff_settings.without(settings, left_out, folder))] if settings else []
            done = await _invoked(job, [*argv, *own], group, stdin, exit_codes, (folder,))
            if isinstance(done, Broken):
                return done
            found += done
    return found


async def _invoked(
    job: Job,
    argv: Sequence[str],
    paths: Sequence[str],
    stdin: bytes | None,
    exit_codes: Container[int],
    readable: Sequence[Path] = (),
) -> list[Completed] | Broken:
    if stdin is None:
        calls = list(with_files([*argv, "--"], paths))
    else:
        calls = [[*argv, "--stdin-filename", os.fsdecode(encode(paths[0])), "-"]]
    return await invoke(job, calls, stdin=stdin, exit_codes=exit_codes, env=ENVIRONMENT, inert=True, writable=readable)


def _weighed(finding: Finding, configured: bool, *, selects: bool) -> Finding:  # noqa: FBT001 - how its rules were chosen
    """The finding; one of style that the project did not choose, or of what is meant, informs.

    Without settings of its own a project chose nothing, with settings that select no rules what ruff has long had as
    defaults.
    """
    if configured and (selects or _LONG_DEFAULT.match(finding.rule)):
        return finding
    if not configured and _BROKEN.match(finding.rule) and not _is_meant(finding):
        return finding
    return finding.model_copy(update={"severity": Severity.LOW})


def _is_meant(finding: Finding) -> bool:
    return finding.rule == "F401" and bool(_MEANT.search(finding.message))


async def check_content(
    job: Job, path: str, content: bytes, *, under: str, force_exclude: bool = False
) -> Linted | Broken:
    """`ruff check` of a content as if it stood at `under`; findings carry `path`."""
    configured = True in by_config(job.repository.root, [under])
    exclude = ["--force-exclude"] if force_exclude else []
    ran = await run(job, [*_argv(configured=configured, fix=False), *exclude], [under], stdin=content)
    if isinstance(ran, Broken):
        return ran
    linted = parse(ran.done[0].stdout, job.repository.root, {under: content} if is_notebook(under) else {})
    if isinstance(linted, Broken):
        return linted
    selects = under in _selecting(job.repository.root, [under])
    findings = (
        _weighed(each, configured, selects=selects).model_copy(update={"path": path}) for each in linted.findings
    )
    return Linted(tuple(findings), linted.unparsed, notes=ran.notes)


def is_notebook(path: str) -> bool:
    """Whether ruff reads a file of this name cell by cell."""
    return path.lower().endswith(".ipynb")


def parse(output: str, root: Path, notebooks: Mapping[str, bytes] | None = None) -> Linted | Broken:
    """Read `--output-format json`. Files that vanished meanwhile are left out.

    Args:
        output: what ruff printed.
        root: the repository.
        notebooks: the contents of these by path: ruff counts lines by the cell.
    """
    if len(output) > OUTPUT_LIMIT:
        return Broken(f"ruff printed more than {OUTPUT_LIMIT:,} characters: too many findings to read")
    try:
        items = json.loads(output or "[]")
        findings = [_finding(item, root, notebooks or {}) for item in items if item["code"] != _UNREADABLE]
        # ruff has one word for what vanished and for what is no UTF-8.
        failed = [item["filename"] for item in items if item["code"] == _UNREADABLE]
    except (ValueError, KeyError, TypeError) as error:
        return Broken(f"ruff's output is not understood: {error}")
    unparsed = frozenset(finding.path for finding in findings if finding.rule == SYNTAX)
    return Linted(
        tuple(findings), unparsed, unread=frozenset(_relative(name, root) for name in failed if os.path.lexists(name))
    )


def _argv(*, configured: bool, fix: bool) -> list[str]:
    argv = [program(), "check", "--output-format", "json", "--no-cache"]
    argv += ["--fix", "--unfixable", _KEPT] if fix else ["--no-fix"]
    return [*argv, "--exit-zero", *([] if configured else ["--select", BASIC])]


def _finding(item: dict[str, Any], root: Path, notebooks: Mapping[str, bytes]) -> Finding:
    rule, path, line = item["code"] or SYNTAX, _relative(item["filename"], root), item["location"]["row"]
    if item.get("cell") and path in notebooks:
        from swarmgate.gates.source.notebooks import line_of_cell  # noqa: PLC0415 - late: few changes have a notebook

        line = line_of_cell(notebooks[path], item["cell"], line)
    serious = rule == SYNTAX or rule.startswith(_ERRORS)
    fix = item.get("fix") or {}
    return Finding(
        rule=rule,
        path=path,
        line=line,
        column=item["location"]["column"],
        severity=Severity.HIGH if serious else Severity.MEDIUM,
        message=item["message"],
        suggestion=fix.get("message") or (advice.mend(rule) if _SECURITY.match(rule) else ""),
    )


def _relative(name: str, root: Path) -> str:
    path = Path(name)
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else name


def _selecting(root: Path, paths: Iterable[str]) -> Container[str]:
    """The paths whose ruff settings select rules; all where settings cannot be read, for ruff itself says so."""
    paths = list(paths)
    try:
        groups = ruff_settings.by_file(root, paths)
        return {path for file, group in groups.items() if file and ruff_settings.selects(file) for path in group}
    except (OSError, ValueError):
        return paths


def _configured(root: Path, folder: Path, known: dict[Path, bool]) -> bool:
    if folder not in known:
        here = any((folder / name).is_file() for name in SETTINGS[:2]) or has_section(folder)
        known[folder] = here or (folder not in (root, folder.parent) and _configured(root, folder.parent, known))
    return known[folder]


def has_section(folder: Path) -> bool:
    """Whether the pyproject.toml there configures ruff."""
    try:
        return ruff_settings.has_section(folder)
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        if (folder / "pyproject.toml").is_fifo():  # ruff would wait for it
            raise WorkspaceError(f"{folder / 'pyproject.toml'} is a pipe, not a regular file") from error
        return True  # broken: ruff itself shall say so
