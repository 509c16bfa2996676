"""The doctor's check of `.swarm/`: committed files, permissions, locks of dead processes, the template's version."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from swarmgate import assets
from swarmgate.automation.doctor.problem import Problem
from swarmgate.errors import ConfigError
from swarmgate.journal.lock import describe, live_owner, read_owner
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.settings.file import Draft, read
from swarmgate.workspace import system

NAME = "folder"
_WHOLE = re.compile(r"/?(\*\*/)?\.swarm(/|/\*|/\*\*)?")


def inspect(folder: SwarmFolder) -> tuple[tuple[Problem, ...], tuple[Draft, ...]]:
    """What is wrong with the folder, and the files that `--fix` would write."""
    ignored = tuple(_ignored_whole(folder))
    lacking = () if ignored else tuple(_ignore_lines(folder))
    missing = tuple(_missing(folder))
    problems = (
        *ignored,
        *(problem for problem, _ in (*lacking, *missing)),
        *_permissions(folder),
        *_locks(folder),
    )
    return problems, tuple(draft for _, draft in (*lacking, *missing))


def locks(folder: SwarmFolder) -> str:
    """Locks that dead processes of this host have left, in words; empty where there is none."""
    gone = [f"{folder.relative(path)} names {describe(owner)}" for path, owner in _stale(folder) if _ours(owner)]
    return f"; {' and '.join(gone)}, which is gone: harmless, the next one takes it over" if gone else ""


def _ignore_lines(folder: SwarmFolder) -> Iterator[tuple[Problem, Draft]]:
    """Patterns of the template that `.swarm/.gitignore` lacks: what belongs to one machine would be committed."""
    path = folder.path / ".gitignore"
    try:
        before, text = read(path)
    except ConfigError:
        return
    if before is None:
        return  # see _missing
    have = {_pattern(line) for line in text.splitlines()}
    lines = (assets.template() / ".gitignore").read_text(encoding="utf-8").splitlines()
    lacking = [line for line in lines if _pattern(line) and _pattern(line) not in have]
    if not lacking:
        return
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else end
    after = text + gap + "".join(f"{line}{end}" for line in lacking)
    message = f"lacks {', '.join(lacking)}: what belongs to this machine alone would be committed"
    yield Problem(NAME, message, folder.relative(path), fixable=True), Draft(path, before, after)


def _pattern(line: str) -> str:
    """What a line ignores, without what makes no difference here; empty for a comment."""
    return "" if line.lstrip().startswith("#") else line.strip().strip("/")


def _ignored_whole(folder: SwarmFolder) -> Iterator[Problem]:
    path = folder.root / ".gitignore"
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    except OSError:
        return
    for number, line in enumerate(lines, start=1):
        if _WHOLE.fullmatch(line.strip()):
            message = "git ignores all of .swarm/: plan, ledger, evidence and settings are not committed"
            yield Problem(
                NAME, message, ".gitignore", number, "take the line out; .swarm/.gitignore says what stays here"
            )


def _missing(folder: SwarmFolder) -> Iterator[tuple[Problem, Draft]]:
    """Files of the template that the project has not: it was made by an older swarmgate, or they were removed."""
    template = assets.template()
    for source in sorted(each for each in template.rglob("*") if each.is_file()):
        target = folder.path / source.relative_to(template)
        if not os.path.lexists(target):
            message = "is not there, and the template of this version has it"
            problem = Problem(NAME, message, folder.relative(target), fixable=True)
            yield problem, Draft(target, None, source.read_text(encoding="utf-8"))


def _permissions(folder: SwarmFolder) -> Iterator[Problem]:
    if not os.access(folder.path, os.W_OK | os.X_OK):
        yield Problem(NAME, "you may not write there: nothing can be recorded", ".swarm", 0, "chmod u+wx", "error")
    for path in (folder.path, folder.config, folder.ledger, folder.plan_md, folder.plan_json):
        try:
            mode = path.stat().st_mode
        except OSError:
            continue
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            relative = folder.relative(path)
            yield Problem(NAME, "every user of this machine may change it", relative, 0, f"chmod o-w {relative}")


def _locks(folder: SwarmFolder) -> Iterator[Problem]:
    for path, owner in _stale(folder):
        if not _ours(owner):
            message = f"names {describe(owner)}, on another host; a run here is refused while it stands"
            yield Problem(NAME, message, folder.relative(path), 0, "if that process is dead, remove the file")


def _stale(folder: SwarmFolder) -> Iterator[tuple[Path, dict[str, object]]]:
    """Lock files that name somebody and that no process of this host holds."""
    for path in (folder.lock, folder.watch_lock):
        owner = read_owner(path)
        if owner and not live_owner(path):
            yield path, owner


def _ours(owner: dict[str, object]) -> bool:
    return owner.get("host") == system.host()
