"""All checks together, what mending would change, and the mending itself: settings and `.gitignore`, nothing else."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace

from swarmgate import config as settings
from swarmgate.automation.doctor import (
    basics,
    contradictions,
    endpoints,
    gate_tools,
    guardrails,
    hook_commands,
    keys,
    own_folder,
    records,
    sharing,
)
from swarmgate.automation.doctor.places import Places, Written, written
from swarmgate.automation.doctor.problem import Problem, check_of
from swarmgate.config import PROJECT_FILE, Config
from swarmgate.errors import ConfigError, SwarmError
from swarmgate.gates.definition import GateDefinition
from swarmgate.gates.definition import load as load_gates
from swarmgate.ledger.checks import Check
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.ledger.settings_file import Draft, changed, read, save


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the doctor found, and what it did.

    Attributes:
        checks: every check, in the order in which one would mend them.
        problems: what the newer checks found, with their places; a part of `checks`.
        diff: what mending would change, or has changed, as a unified diff; empty: nothing.
        fixed: the files that were mended.
        backup: copies of what they held before.
        drafts: the files that mending would write.
    """

    checks: tuple[Check, ...]
    problems: tuple[Problem, ...] = ()
    diff: str = ""
    fixed: tuple[str, ...] = ()
    backup: tuple[str, ...] = ()
    drafts: tuple[Draft, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every check passed; warnings are allowed."""
        return all(check.passed for check in self.checks)

    def lines(self) -> list[str]:
        """For people: a line for each check, and one for each thing that is wrong with it."""
        lines = []
        for check in self.checks:
            lines.append(f"{'ok  ' if check.passed else 'FAIL'}  {check.name}: {check.looked_at}")
            lines += [f"      {problem}" for problem in check.problems]
            lines += [f"WARN  {check.name}: {warning}" for warning in check.warnings]
        if self.fixed:
            kept = f"; what they held before: {', '.join(self.backup)}" if self.backup else ""
            lines.append(f"mended: {', '.join(self.fixed)}{kept}")
        return lines

    def as_json(self) -> dict[str, object]:
        """For programs."""
        shown = ("check", "severity", "where", "line", "message", "hint", "fixable")
        return {
            "passed": self.passed,
            "checks": [asdict(each) for each in self.checks],
            "problems": [{name: getattr(each, name) for name in shown} for each in self.problems],
            "diff": self.diff,
            "fixed": self.fixed,
            "backup": self.backup,
        }


Further = Callable[[Config], Iterable[Check]]
"""Checks that need what this room may not import."""

_Group = tuple[str, str, tuple[Problem, ...]]
"""The name of a check, what it looked at, and what it found."""


def diagnose(folder: SwarmFolder, environ: Mapping[str, str], roles: tuple[str, ...], further: Further) -> Diagnosis:
    """Looks at everything; changes nothing."""
    places = written(folder, environ)
    in_files = tuple(each for file in places.files for each in _in_file(file))
    checks = [_settings(each, in_files) for each in basics.examine(folder, environ, roles)]
    groups: list[_Group] = []
    with contextlib.suppress(ConfigError):
        config = settings.load(project_file=folder.config, environ=environ)
        groups += _of_settings(folder, config, places)
        checks += further(config)
    own, drafts = own_folder.look(folder)
    groups.append((records.NAME, "ledger.jsonl, plan.md, plan.json", records.look(folder)))
    groups.append((own_folder.NAME, f".swarm{own_folder.locks(folder)}", own))
    drafts = (*_mended(folder, in_files), *drafts)
    return Diagnosis(
        checks=(*checks, *(check_of(*group) for group in groups)),
        problems=(*in_files, *(each for _, _, found in groups for each in found)),
        diff="".join(_diff(folder, each) for each in drafts),
        drafts=drafts,
    )


def mend(folder: SwarmFolder, found: Diagnosis, again: Callable[[], Diagnosis]) -> Diagnosis:
    """Writes what `found` would change, and looks again.

    Raises:
        UsageError: a file was changed since it was read, or is a link that leads out of the repository.
        LedgerWriteFailed: a file cannot be written; it is as before.
    """
    if not found.drafts:
        return found
    kept = save(folder, found.drafts)
    return replace(
        again(),
        diff=found.diff,
        fixed=tuple(folder.relative(each.path) for each in found.drafts),
        backup=tuple(folder.relative(each) for each in kept),
    )


def _in_file(file: Written) -> Iterator[Problem]:
    """What is wrong in one file; only that of the project is mended."""
    for each in keys.look(file):
        yield each if file.name == PROJECT_FILE else replace(each, edit=None, fixable=False)


def _settings(check: Check, found: tuple[Problem, ...]) -> Check:
    """The check of the settings with all that is wrong in the files, in the place of the first thing."""
    if check.name != "settings" or not found:
        return check
    return check_of("settings", check.looked_at, found)


def _of_settings(folder: SwarmFolder, config: Config, places: Places) -> Iterator[_Group]:
    """The checks that need settings which can be read."""
    gates = _gates(folder)
    ids = tuple(each.id for each in gates)
    hosts = ", ".join(f"{name} {each.base_url}" for name, each in config.providers.items())
    yield contradictions.NAME, "settings against each other", contradictions.look(config, places, ids)
    yield guardrails.NAME, "what is switched off", guardrails.look(config, places, gates)
    yield sharing.NAME, "who judges what the coder wrote", sharing.look(config, places)
    yield endpoints.NAME, hosts or "none", endpoints.look(config, places)
    yield gate_tools.NAME, f"what {len(ids)} gates need", gate_tools.look(gates, config.gates.skip)
    yield hook_commands.NAME, f"{len(config.hooks)} hooks", hook_commands.look(config, places, folder.root)


def _gates(folder: SwarmFolder) -> tuple[GateDefinition, ...]:
    try:
        return load_gates(folder.root)
    except SwarmError:
        return ()  # the check `gates` says why


def _mended(folder: SwarmFolder, found: tuple[Problem, ...]) -> Iterator[Draft]:
    """The settings with everything mended that can be; an edit that another one makes impossible waits."""
    edits = [each.edit for each in found if each.edit is not None]
    if not edits:
        return
    before, text = read(folder.config)
    for edit in edits:
        with contextlib.suppress(ConfigError):
            text = changed(text, [edit])
    yield Draft(folder.config, before, text)


def _diff(folder: SwarmFolder, draft: Draft) -> str:
    """The draft as a unified diff. What looks like a key is not shown, wherever it stands."""
    name = folder.relative(draft.path)
    before = "" if draft.before is None else draft.before.decode("utf-8")
    lines = difflib.unified_diff(
        before.splitlines(),
        draft.after.splitlines(),
        "/dev/null" if draft.before is None else f"a/{name}",
        f"b/{name}",
        lineterm="",
    )
    return keys.masked("".join(f"{line}\n" for line in lines))
