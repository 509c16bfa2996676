"""Runs all checks of the doctor, previews the repairs of settings and `.gitignore`, and makes them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, islice

from swarmgate import config as settings
from swarmgate.automation.doctor import (
    agents,
    basic_checks,
    contradictions,
    endpoints,
    gate_tools,
    guardrails,
    hook_commands,
    keys,
    records,
    redaction,
    shared_models,
    swarm_folder,
    variables,
)
from swarmgate.automation.doctor.problem import Problem, check_of
from swarmgate.automation.setting_locations import Places, SettingsFile, written
from swarmgate.config import PROJECT_FILE, Config, toml_text
from swarmgate.config.loading import read_sources
from swarmgate.errors import ConfigError, SwarmError
from swarmgate.gates.definition import GateDefinition
from swarmgate.gates.definition import load as load_gates
from swarmgate.ledger.check import Check
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.settings.file import Draft, changed, read, save


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
        skipped: checks that could not be made, and why.
        mended: how many problems were mended.
    """

    checks: tuple[Check, ...]
    problems: tuple[Problem, ...] = ()
    diff: str = ""
    fixed: tuple[str, ...] = ()
    backup: tuple[str, ...] = ()
    drafts: tuple[Draft, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    mended: int = 0

    @property
    def fixable(self) -> int:
        """How many problems mending would take away."""
        return sum(each.fixable for each in self.problems)

    @property
    def left(self) -> int:
        """How many things mending leaves to the user."""
        return sum(len(check.problems) + len(check.warnings) for check in self.checks) - self.fixable

    @property
    def passed(self) -> bool:
        """Whether every check passed; warnings are allowed."""
        return all(check.passed for check in self.checks)

    def lines(self) -> list[str]:
        """For people: a line for each check with its worst standing, and one for each thing that is wrong with it."""
        lines = []
        for check in self.checks:
            standing = "FAIL" if check.problems else "WARN" if check.warnings else "ok  "
            lines.append(f"{standing}  {check.name}{f': {check.looked_at}' if check.looked_at else ''}")
            lines += [f"      {each}" for each in (*check.problems, *check.warnings)]
        lines += [f"skip  {name}: {why}" for name, why in self.skipped.items()]
        if self.fixed:
            stored = f"; what they held before: {', '.join(self.backup)}" if self.backup else ""
            lines.append(f"mended: {', '.join(self.fixed)}{stored}")
        return lines

    def outcome(self, *, dry: bool) -> str:
        """What was mended, or would be, and what is left."""
        done = f"{self.fixable} would be mended" if dry else f"{self.mended} mended"
        what = done if self.diff else "nothing to mend"
        return f"{what}, {self.left} {'is' if self.left == 1 else 'are'} yours" if self.left else what

    def as_json(self) -> dict[str, object]:
        """For programs."""
        fields = ("check", "severity", "where", "line", "message", "hint", "fixable")
        return {
            "passed": self.passed,
            "checks": [asdict(each) for each in self.checks],
            "problems": [{name: getattr(each, name) for name in fields} for each in self.problems],
            "diff": self.diff,
            "fixed": self.fixed,
            "backup": self.backup,
            "skipped": dict(self.skipped),
            "mended": self.mended,
        }


Further = Callable[[Config], Iterable[Check]]
"""Checks that need what this room may not import."""

_NEED_SETTINGS = (
    *basic_checks.NEED_SETTINGS, contradictions.NAME, guardrails.NAME, shared_models.NAME, variables.NAME,
    endpoints.NAME, gate_tools.NAME, hook_commands.NAME,
)  # fmt: skip
"""Checks that are always made where the settings can be read, and never where they cannot."""

_Group = tuple[str, str, tuple[Problem, ...]]
"""The name of a check, what it looked at, and what it found."""


def diagnose(
    folder: SwarmFolder,
    environ: Mapping[str, str],
    roles: tuple[str, ...],
    further: Further,
    suite: basic_checks.Suite | None = None,
) -> Diagnosis:
    """Runs every check; changes nothing. `suite` asks the test command what it would run (see `basic_checks`)."""
    places = written(folder, environ)
    in_files, drafts = _mended(folder, tuple(each for file in places.files for each in _in_file(file)))
    in_files = (*in_files, *_across(folder, places))
    checks = [_settings(each, in_files) for each in basic_checks.examine(folder, environ, roles, suite)]
    groups: list[_Group] = []
    skipped = {}
    try:
        config = settings.load(project_file=folder.config, environ=environ)
        groups += _of_settings(folder, config, places, environ)
        checks += further(config)
    except ConfigError:
        skipped = dict.fromkeys(_NEED_SETTINGS, "not looked at: the settings must be mended first")
    own, further_drafts = swarm_folder.inspect(folder)
    groups.append((records.NAME, "ledger.jsonl, plan.md, plan.json", records.inspect(folder)))
    groups.append((swarm_folder.NAME, f".swarm{swarm_folder.locks(folder)}", own))
    drafts = (*drafts, *further_drafts)
    return Diagnosis(
        checks=tuple(_redacted(each) for each in (*checks, *(check_of(*group) for group in groups))),
        problems=(*in_files, *(each for _, _, found in groups for each in found)),
        diff="".join(_diff(folder, each, in_files) for each in drafts),
        drafts=drafts,
        skipped=skipped,
    )


def mend(folder: SwarmFolder, found: Diagnosis, again: Callable[[], Diagnosis]) -> Diagnosis:
    """Writes what `found` would change, and looks again.

    Raises:
        UsageError: a file was changed since it was read, or is a link that leads out of the repository.
        LedgerWriteFailed: a file cannot be written; it is as before.
    """
    if not found.drafts:
        return found
    stored = save(folder, found.drafts)
    return replace(
        again(),
        diff=found.diff,
        fixed=tuple(folder.relative(each.path) for each in found.drafts),
        mended=found.fixable,
        backup=tuple(folder.relative(each) for each in stored),
    )


def _in_file(file: SettingsFile) -> Iterator[Problem]:
    """What is wrong in one file; only that of the project is mended."""
    for each in keys.inspect(file):
        yield each if file.name == PROJECT_FILE else replace(each, edits=(), fixable=False)


def _across(folder: SwarmFolder, places: Places) -> tuple[Problem, ...]:
    """What is wrong with all sources together and with none of the files alone."""
    try:
        sources = read_sources(None, folder.config, places.environ)
    except ConfigError as error:
        return (Problem("settings", error.message, hint=error.hint, severity="error"),)
    names = {str(folder.config): PROJECT_FILE}
    known = set(chain.from_iterable(keys.errors_of(each.values) for each in places.files))
    return tuple(keys.across([replace(each, name=names.get(each.name, each.name)) for each in sources], known))


def _settings(check: Check, found: tuple[Problem, ...]) -> Check:
    """The check of the settings with all that is wrong with them, in the place of the first thing."""
    if check.name != "settings" or not found:
        return check
    return check_of("settings", check.looked_at or PROJECT_FILE, found)


def _redacted(check: Check) -> Check:
    """The check without what could be a key: command lines may have one."""
    problems, warnings = (tuple(map(redaction.masked, each)) for each in (check.problems, check.warnings))
    return replace(check, looked_at=redaction.masked(check.looked_at), problems=problems, warnings=warnings)


def _of_settings(folder: SwarmFolder, config: Config, places: Places, environ: Mapping[str, str]) -> Iterator[_Group]:
    """The checks that need settings which can be read."""
    gates = _gates(folder)
    ids = tuple(each.id for each in gates)
    hosts = ", ".join(f"{name} {each.base_url}" for name, each in config.providers.items())
    yield contradictions.NAME, "settings against each other", contradictions.inspect(config, places, ids)
    yield guardrails.NAME, "what is switched off", guardrails.inspect(config, places, gates)
    yield shared_models.NAME, "who judges what the coder wrote", shared_models.inspect(config, places)
    if config.agents:
        yield agents.NAME, agents.described(config), agents.inspect(config, places, environ, folder.root.resolve())
    yield variables.NAME, variables.described(config, environ), variables.inspect(config, places, environ)
    yield endpoints.NAME, hosts or "none", endpoints.inspect(config, places)
    yield gate_tools.NAME, f"what {len(ids)} gates need", gate_tools.inspect(gates, config, folder.root)
    yield hook_commands.NAME, f"{len(config.hooks)} hooks", hook_commands.inspect(config, places, folder.root)


def _gates(folder: SwarmFolder) -> tuple[GateDefinition, ...]:
    try:
        return load_gates(folder.root)
    except SwarmError:
        return ()  # the check `gates` says why


def _mended(folder: SwarmFolder, found: tuple[Problem, ...]) -> tuple[tuple[Problem, ...], tuple[Draft, ...]]:
    """The problems, as mendable only where that was tried, and the settings with those mended."""
    if not any(each.edits for each in found):
        return found, ()
    before, text = read(folder.config)
    problems, after = [], text
    for each in found:
        try:
            after = changed(after, each.edits)
            problems.append(each)
        except ConfigError as error:
            along = _mended_along(each, after)
            hint = each.hint or ("" if along else error.hint)
            problems.append(replace(each, edits=(), fixable=along, hint=hint))
    return tuple(problems), (Draft(folder.config, before, after),) if after != text else ()


def _mended_along(problem: Problem, text: str) -> bool:
    """Whether what a problem is about is gone by now: mending a table's name mends the keys in it too."""
    values = toml_text.loads(text)
    return all(edit.path[-1] not in keys.at(values, edit.path[:-1]) for edit in problem.edits[:1])


def _diff(folder: SwarmFolder, draft: Draft, found: tuple[Problem, ...]) -> str:
    """The draft as a unified diff. Of settings it has only what changes, and no value that could be a secret."""
    name = folder.relative(draft.path)
    before = "" if draft.before is None else draft.before.decode("utf-8")
    is_settings = draft.path == folder.config
    lines = difflib.unified_diff(
        before.splitlines(),
        draft.after.splitlines(),
        "/dev/null" if draft.before is None else f"a/{name}",
        f"b/{name}",
        n=0 if is_settings else 3,
        lineterm="",
    )
    keys_changed = frozenset(edit.path[-1] for each in found for edit in each.edits)
    head = [*islice(lines, 2)]
    redacted = (redaction.of_settings(each, keys_changed) if is_settings else redaction.masked(each) for each in lines)
    return "".join(f"{line}\n" for line in (*head, *redacted))
