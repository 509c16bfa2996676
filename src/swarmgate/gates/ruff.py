"""The ruff that came with swarmgate, run in the project's own configuration: argv, findings, and what it calls a file.

Where no ruff configuration covers a file, `BASIC` rules are used instead of ruff's own default, which changes with its
version: what can only be a mistake, not a matter of style.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.config import toml_text
from swarmgate.domain.finding import Finding, Severity
from swarmgate.errors import MissingRequirement, WorkspaceError
from swarmgate.gates.sast import advice
from swarmgate.gates.tool import OUTPUT_LIMIT, Broken, invoke, with_files
from swarmgate.workspace import regular
from swarmgate.workspace.paths import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from swarmgate.gates.job import Job

BASIC = "E4,E7,E9,F"
"""Imports, statements, runtime errors of pycodestyle, and pyflakes: ruff's default up to 0.15."""

ENVIRONMENT = {"XDG_CONFIG_HOME": os.devnull, "NO_COLOR": "1"}
"""Under these, no ruff settings of the user's home take part: the project alone decides."""

_KEPT = "F401,F841"
"""Unused imports and variables: fixing leaves them, since who still types will use them; linting tells them."""

_ERRORS = ("E9", "F821", "F822", "F823", "F63", "F7")
_SECURITY = re.compile(r"S\d{3}$")
_SYNTAX = "invalid-syntax"
_UNREADABLE = "E902"

SETTINGS = ("ruff.toml", ".ruff.toml", "pyproject.toml")
"""What ruff reads its settings from, in the nearest folder that has one of them; the last one only with a section."""


@dataclass(frozen=True, slots=True)
class Linted:
    """What `ruff check` said: findings, and the files that do not parse (ruff leaves their other rules out).

    `unread` are files that are there and that it could not read.
    """

    findings: tuple[Finding, ...]
    unparsed: frozenset[str]
    excluded: bool = False
    unread: frozenset[str] = frozenset()


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
    excluded = 0
    notebooks = {each.path: each.content for each in job.sources if is_notebook(each.path)}
    # ruff prints a name that is no UTF-8 with replacement characters.
    names = {encode(path).decode(errors="replace"): path for path in paths}
    for configured, group in by_config(job.repository.root, paths).items():
        argv = _argv(configured=configured, fix=fix)
        done = await invoke(job, with_files([*argv, "--force-exclude", "--"], group), env=ENVIRONMENT, inert=True)
        if isinstance(done, Broken):
            return done
        for completed in done:
            linted = parse(completed.stdout, job.repository.root, notebooks)
            if isinstance(linted, Broken):
                return linted
            found += [each.model_copy(update={"path": names.get(each.path, each.path)}) for each in linted.findings]
            unparsed |= {names.get(path, path) for path in linted.unparsed}
            unread |= {names.get(path, path) for path in linted.unread}
            excluded += "No Python files found" in completed.stderr
    return Linted(tuple(found), frozenset(unparsed), excluded=bool(excluded) and not found, unread=frozenset(unread))


async def check_content(
    job: Job, path: str, content: bytes, *, under: str, force_exclude: bool = False
) -> Linted | Broken:
    """`ruff check` of a content as if it stood at `under`; findings carry `path`."""
    configured = True in by_config(job.repository.root, [under])
    exclude = ["--force-exclude"] if force_exclude else []
    argv = [*_argv(configured=configured, fix=False), *exclude, "--stdin-filename", under, "-"]
    done = await invoke(job, [argv], stdin=content, env=ENVIRONMENT, inert=True)
    if isinstance(done, Broken):
        return done
    linted = parse(done[0].stdout, job.repository.root, {under: content} if is_notebook(under) else {})
    if isinstance(linted, Broken):
        return linted
    return Linted(tuple(finding.model_copy(update={"path": path}) for finding in linted.findings), linted.unparsed)


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
    unparsed = frozenset(finding.path for finding in findings if finding.rule == _SYNTAX)
    return Linted(
        tuple(findings), unparsed, unread=frozenset(_relative(name, root) for name in failed if os.path.lexists(name))
    )


def _argv(*, configured: bool, fix: bool) -> list[str]:
    argv = [program(), "check", "--output-format", "json", "--no-cache"]
    argv += ["--fix", "--unfixable", _KEPT] if fix else ["--no-fix"]
    return [*argv, "--exit-zero", *([] if configured else ["--select", BASIC])]


def _finding(item: dict[str, Any], root: Path, notebooks: Mapping[str, bytes]) -> Finding:
    rule, path, line = item["code"] or _SYNTAX, _relative(item["filename"], root), item["location"]["row"]
    if item.get("cell") and path in notebooks:
        from swarmgate.gates.syntax.python import line_of_cell  # noqa: PLC0415 - late: few changes have a notebook

        line = line_of_cell(notebooks[path], item["cell"], line)
    serious = rule == _SYNTAX or rule.startswith(_ERRORS)
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


def _configured(root: Path, folder: Path, known: dict[Path, bool]) -> bool:
    if folder not in known:
        here = any((folder / name).is_file() for name in SETTINGS[:2]) or has_section(folder)
        known[folder] = here or (folder not in (root, folder.parent) and _configured(root, folder.parent, known))
    return known[folder]


def has_section(folder: Path) -> bool:
    """Whether the pyproject.toml there configures ruff."""
    try:
        return "ruff" in toml_text.loads(regular.text(folder / "pyproject.toml")).get("tool", {})
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        if (folder / "pyproject.toml").is_fifo():  # ruff would wait for it
            raise WorkspaceError(f"{folder / 'pyproject.toml'} is a pipe, not a regular file") from error
        return True  # broken: ruff itself shall say so
