"""Reports which capabilities of automation are on and by which setting, and switches them in `.swarm/config.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from swarmgate.automation.hooks.report import problems
from swarmgate.automation.setting_locations import Places, written
from swarmgate.config import CAPABILITIES, PROJECT_FILE, Config, load, nearest
from swarmgate.config.automation import Mode
from swarmgate.domain.base import Frozen
from swarmgate.domain.events.automation import BreakerState
from swarmgate.domain.status import WorkerStatus
from swarmgate.errors import UsageError
from swarmgate.journal.lock import describe, live_owner
from swarmgate.ledger.files import status_file
from swarmgate.ledger.settings.file import Put, edited, save
from swarmgate.project import Project

MODES: tuple[str, ...] = get_args(Mode)
_WORKERS = {"config_doctor": "config_doctor_on_startup"}
"""Workers that bear another name than their capability."""


class Capability(Frozen):
    """One capability.

    `why` is what switched it, in words: its own key with the place of that, or the mode. `state` is that of its worker
    in the process that watches, None where none does; `problem` is what that worker cannot do, and why.
    """

    name: str
    on: bool
    why: str
    meaning: str
    state: BreakerState | None = None
    pending: int = 0
    problem: str = ""


class CapabilityReport(Frozen):
    """All capabilities. `told` is what the user should know, such as a variable that wins over what was switched."""

    mode: str
    mode_why: str
    capabilities: tuple[Capability, ...]
    hooks: int = 0
    watching: str = ""
    told: tuple[str, ...] = ()


def report(project: Project) -> CapabilityReport:
    """What is on, and where it was switched on.

    Raises:
        ConfigError: the settings cannot be read.
    """
    environ = project.environ
    config = load(project_file=project.folder.config, environ=environ, flags=project.flags)
    places = written(project.folder, environ)
    watching, workers = _live(project)
    mode_why = _place(places, "automation", "mode") or "default"
    return CapabilityReport(
        mode=config.automation.mode,
        mode_why=mode_why,
        capabilities=tuple(_capability(name, config, places, workers) for name in CAPABILITIES),
        hooks=len(config.hooks),
        watching=watching,
        told=(*_odd(config), *(problems(config, project.folder, environ) or _unable(workers.get("hooks")))),
    )


def _capability(name: str, config: Config, places: Places, workers: Mapping[str, WorkerStatus]) -> Capability:
    automation = config.automation
    own = getattr(automation.capabilities, name)
    why = f'mode "{automation.mode}"' if own is None else _place(places, "automation", "capabilities", name) or "a flag"
    worker = workers.get(name)
    return Capability(
        name=name,
        on=automation.on(name),
        why=why,
        meaning=type(automation.capabilities).model_fields[name].description or "",
        state=worker.state if worker else None,
        pending=worker.pending if worker else 0,
        problem=worker.problem if worker else "",
    )


def _place(places: Places, *path: str) -> str:
    where, line = places.of(*path)
    return f"{where} line {line}" if line else where


def _odd(config: Config) -> tuple[str, ...]:
    automation = config.automation
    if automation.on("config_doctor_autofix") and not automation.on("config_doctor_on_startup"):
        return ("config_doctor_autofix does nothing while config_doctor_on_startup is off",)
    return ()


def _unable(hooks: WorkerStatus | None) -> tuple[str, ...]:
    return (f"hooks: {hooks.problem}",) if hooks and hooks.problem else ()


def _live(project: Project) -> tuple[str, dict[str, WorkerStatus]]:
    """The process that watches, in words, and its workers by capability; nothing where none lives."""
    owner = live_owner(project.folder.watch_lock)
    if not owner:
        return "", {}
    status = status_file.read(project.folder)
    if status is None or status.pid != owner.get("pid"):
        return describe(owner), {}
    return f"{describe(owner)} ({status.place})", {_WORKERS.get(each.name, each.name): each for each in status.workers}


def switch(project: Project, name: str, *, on: bool = True) -> CapabilityReport:
    """Switches a capability in `.swarm/config.toml`, or the mode where `name` is one; comments there stay.

    A process that watches takes it up by itself.

    Args:
        project: the project.
        name: a capability, or a mode (`on` says nothing about a mode).
        on: or off.

    Raises:
        UsageError: there is no such capability; or the file was changed meanwhile, or is a link that leads out.
        ConfigError: the settings cannot be read.
        LedgerWriteFailed: the file cannot be written.
    """
    if name in MODES:
        edit, wanted = Put(("automation", "mode"), name), name
    else:
        require_capability(name)
        edit, wanted = Put(("automation", "capabilities", name), on), "on" if on else "off"
    report(project)  # what cannot be read is not written to
    save(project.folder, [edited(project.folder.config, [edit])])
    return _overridden(project, report(project), edit.path, wanted)


def require_capability(name: str) -> None:
    """Makes sure that it is the name of a capability.

    Raises:
        UsageError: it is not; the hint names the nearest.
    """
    if name not in CAPABILITIES:
        close = nearest(name, CAPABILITIES)
        mode = f"That is a mode: swarm automation mode {name}" if name in MODES else ""
        hint = mode or (f"Did you mean {close}?" if close else f"There are: {', '.join(CAPABILITIES)}.")
        raise UsageError(f"There is no capability {name!r}.", hint=hint)


def require_mode(name: str) -> None:
    """Makes sure that it is a mode.

    Raises:
        UsageError: it is not.
    """
    if name not in MODES:
        raise UsageError(f"There is no mode {name!r}.", hint=f"There are: {', '.join(MODES)}.")


def _overridden(project: Project, found: CapabilityReport, path: tuple[str, ...], wanted: str) -> CapabilityReport:
    """Says so where a variable wins over what was just written."""
    variable = written(project.folder, project.environ).variable(*path)
    if not variable:
        return found
    note = f"{path[-1]} is {wanted} in {PROJECT_FILE} now, and the variable {variable} wins over that file"
    return found.model_copy(update={"told": (*found.told, note)})
