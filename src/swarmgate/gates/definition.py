"""Loads gate definitions from `gates/<id>.toml` and the project's `.swarm/gates/<id>.toml`.

A project's file with a new id adds a gate. With a built-in's id it names only the keys that it changes; where that
makes the gate weaker, the definition carries it in `weakened`, and every report of the gate says so.
"""

from __future__ import annotations

import difflib
import tomllib
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, ValidationError, model_validator

from swarmgate import assets
from swarmgate.config import Quality, toml_text
from swarmgate.domain.base import Frozen, Line
from swarmgate.domain.review.finding import Severity
from swarmgate.errors import ConfigError
from swarmgate.gates.scanners import COMMAND, RECORDS
from swarmgate.gates.source.selection import FileFilter
from swarmgate.workspace.files import regular

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from swarmgate.gates.scanners import Record

FILES = "{files}"
"""The element of `command` that stands for the changed files."""

_COMPUTED = ("weakened", "source")


class Stage(StrEnum):
    """When a gate runs: what changes files runs first and alone, what only reads runs concurrently."""

    FIX = "fix"
    CHECK = "check"


class Parser(StrEnum):
    """How a command's output becomes findings.

    `exit`: the output is for people; an exit code other than 0 is one finding. `sarif`: SARIF 2.1.0 on stdout.
    `jsonl`: one object a line with rule, path, line, column, severity, message. `regex`: `pattern`, whose named groups
    have those names.
    """

    EXIT = "exit"
    SARIF = "sarif"
    JSONL = "jsonl"
    REGEX = "regex"


class Baseline(StrEnum):
    """What counts as introduced by the change, for a command (built-in scanners compare with the base revision itself).

    `lines`: findings on added lines, of added files and about a whole file. `none`: every finding.
    """

    LINES = "lines"
    NONE = "none"


class GateDefinition(Frozen):
    """One gate: an `adapter` (a built-in scanner's name) or a `command` (argv; `{files}` expands to the changed files).

    Findings of at least `severity` that the change introduced fail the gate. `exit_codes` are the codes with which the
    command has done its work (1 is the usual "found something"); any other is a broken tool. `version` is a command
    that prints the tool's version, which must be at least `minimum_version`. `limits` are those of the adapter
    `quality`. `extra_languages` switches on what the adapter leaves out by default. `cache`: the command's result
    depends on nothing but both trees and what is installed, so it may be answered from the cache (built-in scanners say
    so themselves). `checks` names what the gate is there to check, for `[gates] require`; by default, the gate's id.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")
    title: Line = Field(min_length=1)
    order: int = 100
    stage: Stage = Stage.CHECK
    enabled: bool = True
    required: bool = True
    severity: Severity = Severity.MEDIUM
    timeout_s: float = Field(default=60.0, gt=0, le=3600)
    files: FileFilter = FileFilter()
    adapter: str = ""
    command: tuple[str, ...] = ()
    parser: Parser = Parser.EXIT
    pattern: str = ""
    baseline: Baseline = Baseline.LINES
    exit_codes: tuple[int, ...] = (0, 1)
    install_hint: Line = ""
    version: tuple[str, ...] = ()
    minimum_version: str = Field(default="", pattern=r"^(\d+(\.\d+)*)?$")
    limits: Quality = Quality()
    extra_languages: tuple[str, ...] = ()
    cache: bool = False
    checks: tuple[Line, ...] = ()
    weakened: tuple[str, ...] = ()
    source: str = ""

    @property
    def subjects(self) -> tuple[str, ...]:
        """What the gate checks, by the names of `[gates] require`; a gate that fixes files checks nothing."""
        return (self.checks or (self.id,)) if self.stage is Stage.CHECK else ()

    @property
    def reads_files(self) -> bool:
        """Whether the gate runs a tool on the working tree, and not only on the snapshot's content."""
        return self.record.reads_worktree

    @property
    def record(self) -> Record:
        """The record of its scanner."""
        return RECORDS[self.adapter] if self.adapter else COMMAND

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if bool(self.adapter) == bool(self.command):
            raise ValueError("a gate has either an `adapter` or a `command`")
        if self.adapter and self.adapter not in RECORDS:
            raise ValueError(f"unknown adapter {self.adapter!r}{_nearest(self.adapter, RECORDS)}")
        if any(FILES in argument and argument != FILES for argument in self.command):
            raise ValueError("`{files}` must be an argument of its own in `command`")
        if self.limits.model_fields_set and self.adapter != "quality":
            raise ValueError('`limits` belong to `adapter = "quality"`')
        if bool(self.minimum_version) != bool(self.version) or (self.version and not self.command):
            raise ValueError(
                "`version` (a command that prints it) and `minimum_version` belong together, and to `command`"
            )
        if self.command[:1] == (FILES,):
            raise ValueError("`command` must begin with a program")
        if (self.parser is Parser.REGEX) != bool(self.pattern):
            raise ValueError('`pattern` belongs to `parser = "regex"`, and that parser needs it')
        if self.pattern:
            _check_pattern(self.pattern)
        return self


def load(project_dir: Path | None = None) -> tuple[GateDefinition, ...]:
    """Load the built-in gates and the project's own, in the order they run and report in.

    Args:
        project_dir: the root of the repository, for its `.swarm/gates/*.toml`; None for the built-ins alone.

    Raises:
        ConfigError: a file is not TOML, or a key is unknown or wrong; the message names file and key.
    """
    builtin = {path.stem: _read(path) for path in sorted(assets.gates().glob("*.toml"))}
    gates = {stem: _validate(raw, source=f"gates/{stem}.toml", stem=stem) for stem, raw in builtin.items()}
    folder = project_dir / ".swarm" / "gates" if project_dir else None
    for path in sorted(folder.glob("*.toml")) if folder else ():
        raw, name = _read(path), f".swarm/gates/{path.name}"
        base = gates.get(path.stem)
        merged = _validate(_merge(builtin.get(path.stem, {}), raw, path.stem), source=name, stem=path.stem)
        gates[path.stem] = merged.model_copy(update={"weakened": weakenings(base, merged)}) if base else merged
    return tuple(sorted(gates.values(), key=lambda gate: (gate.stage is not Stage.FIX, gate.order, gate.id)))


def weakenings(base: GateDefinition, own: GateDefinition) -> tuple[str, ...]:
    """List where a project's override of a built-in gate is less strict, one short text each."""
    fewer = own.files.narrower_than(base.files)
    cases = {
        "disabled": base.enabled and not own.enabled,
        "no longer required": base.required and not own.required,
        f"blocks from {own.severity} on instead of {base.severity}": own.severity.rank > base.severity.rank,
        f"looks at fewer files ({', '.join(fewer)})": bool(fewer),
        "asks for no version": bool(base.minimum_version) and not own.minimum_version,
        "its scanner is replaced": (base.adapter, base.command) != (own.adapter, own.command),
        "its output is read differently": (base.parser, base.pattern, base.baseline, base.exit_codes)
        != (own.parser, own.pattern, own.baseline, own.exit_codes),
        f"runs as {own.stage} instead of {base.stage}": base.stage is not own.stage,
    }
    return tuple(text for text, holds in cases.items() if holds)


def _merge(base: Mapping[str, Any], own: Mapping[str, Any], stem: str) -> dict[str, Any]:
    merged = {**base, **own}
    for table in ("files", "limits"):
        if isinstance(base.get(table), dict) and isinstance(own.get(table), dict):
            merged[table] = {**base[table], **own[table]}
    if "command" in own and "adapter" not in own:
        merged.pop("adapter", None)
    return {"id": stem, **merged}


def _read(path: Path) -> dict[str, Any]:
    try:
        return toml_text.loads(regular.text(path))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: the gate definition cannot be read: {error}") from error


def _validate(raw: Mapping[str, Any], *, source: str, stem: str) -> GateDefinition:
    for key in _COMPUTED:
        if key in raw:
            raise ConfigError(f"{source}: unknown key '{key}'{_nearest(key, _keys())}")
    try:
        gate = GateDefinition.model_validate({**raw, "source": source})
    except ValidationError as error:
        raise ConfigError(f"{source}: {_explain(error)}", hint="Every key: swarm docs gates#your-own-gate") from error
    if gate.id != stem:
        raise ConfigError(f"{source}: key 'id': {gate.id!r} is not the name of the file ({stem!r})")
    return gate


def _explain(error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        tables: dict[str, Mapping[str, Any]] = {"files": FileFilter.model_fields, "limits": Quality.model_fields}
        known = tables.get(key.partition(".")[0]) or _keys()
        return f"unknown key '{key}'{_nearest(str(first['loc'][-1]), known)}"
    if first["type"] == "missing":
        return f"key '{key}' is missing"
    message = first["msg"].removeprefix("Value error, ")
    return f"key '{key}': {message}" if key else message


def _keys() -> tuple[str, ...]:
    return tuple(name for name in GateDefinition.model_fields if name not in _COMPUTED)


def _nearest(word: str, known: Mapping[str, Any] | tuple[str, ...]) -> str:
    match = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" (did you mean '{match[0]}'?)" if match else f" (known: {', '.join(known)})"


def compiled_pattern(pattern: str) -> Any:
    """Compile the pattern with RE2, whose time is linear, so that no tool output can hang the run.

    Raises:
        ValueError: RE2 cannot read it; the message says why.
    """
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415 - RE2 ships no stubs; late: few gates have a pattern

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        raise ValueError(reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)) from error


def _check_pattern(pattern: str) -> None:
    try:
        groups = compiled_pattern(pattern).groupindex
    except ValueError as error:
        reason = f"`pattern` is not a regular expression of RE2 (no lookarounds, no backreferences, no \\Z): {error}"
        raise ValueError(reason) from error
    if "path" not in groups or "message" not in groups:
        raise ValueError(
            "`pattern` needs the named groups `path` and `message` (and may have line, column, rule, severity)"
        )
