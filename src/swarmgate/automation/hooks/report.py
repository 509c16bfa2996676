"""The worker that runs the hooks, and the report of `swarm hooks` on them and their sandbox."""

# ruff: noqa: PLC0415 - late, for start-up time: a worker is made cheaply, and a verb brings git, gates or models when it is at work

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from pydantic import ValidationError

from swarmgate.automation.hooks.events import HOOKABLE, sample
from swarmgate.automation.hooks.worker import Hooks, unknown_hooks, why_not
from swarmgate.config import PROJECT_FILE, SPEAKING
from swarmgate.domain.base import Frozen
from swarmgate.domain.events.automation import Happening, HookRan
from swarmgate.domain.events.event import EVENTS
from swarmgate.domain.progress import Progress
from swarmgate.errors import UsageError
from swarmgate.ledger.files.automation_log import AutomationLog
from swarmgate.ledger.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from swarmgate.automation.ports import Ports
    from swarmgate.config import Config
    from swarmgate.ledger.files.folder import SwarmFolder
    from swarmgate.project import Project
    from swarmgate.workspace.sandbox.command_runner import CommandRunner


_BARE = (
    '[commands] sandbox = "none": nothing keeps a hook from writing into the repository, and what it writes there is '
    "taken for an agent's work. Let it write to $SWARMGATE_FOLDER."
)


class Hook(Frozen):
    """One hook: the type of the event, the shell command, and how its newest run went (None: none is on record).

    `time` is when that run ended (UTC, ISO 8601). `problem` is why it never runs; empty: it does.
    """

    event: str
    command: str
    last: HookRan | None = None
    time: str = ""
    problem: str = ""


class HookReport(Frozen):
    """All hooks of a project, in the order of the settings; of `swarm hooks try`: the one that was run.

    `warnings` is what the user should know of them all.
    """

    hooks: tuple[Hook, ...] = ()
    warnings: tuple[str, ...] = ()


def report(project: Project) -> HookReport:
    """The user's commands on events, and how the newest run of each went."""
    newest: dict[str, Happening] = {}
    with contextlib.suppress(OSError):  # a journal that cannot be read takes no hook from the list
        for happening in AutomationLog(project.folder).read():
            if happening.type == "hook_ran":
                newest[str(happening.data.get("event"))] = happening
    return HookReport(
        hooks=tuple(_hook(event, command, newest.get(event)) for event, command in project.config.hooks.items()),
        warnings=(*problems(project.config, project.folder, project.environ), *_bare(project)),
    )


def problems(config: Config, folder: SwarmFolder, environ: Mapping[str, str]) -> tuple[str, ...]:
    """A line for each hook that never runs, since there is no such event, with the place in the settings."""
    from swarmgate.automation.setting_locations import written

    def description(event: str) -> str:
        where, line = written(folder, environ).of("hooks", event)
        place = f"{where or PROJECT_FILE}{f' line {line}' if line else ''}"
        return f"{place}: the hook of {event} never runs: {why_not(event)}"

    return tuple(description(event) for event in unknown_hooks(config))


def _bare(project: Project) -> tuple[str, ...]:
    """What holds where nothing confines hooks."""
    if not project.config.hooks or project.config.commands.sandbox != "none":
        return ()
    return (_BARE,)


def try_hook(project: Project, ports: Ports, name: str) -> HookReport:
    """Runs the command of one event now, with a made-up event of that type. Nothing is written to the journal.

    Raises:
        UsageError: there is no such event, or no hook on it.
    """
    if name not in HOOKABLE:
        raise UsageError(f"{name}: {why_not(name)}.", hint="See: swarm hooks, swarm docs hooks")
    if name not in project.config.hooks:
        there = ", ".join(project.config.hooks) or "there are none"
        raise UsageError(f"There is no hook on {name}.", hint=f"Hooks: {there}. Make one in [hooks] of config.toml.")
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    happening = Happening(
        source="ledger" if name in EVENTS else "automation", seq=0, time=now, actor="user", data=sample(name)
    )
    ran = worker(project, ports).run(happening, Ledger.read(project.folder).state)
    hook = Hook(event=name, command=project.config.hooks[name], last=ran, time=now)
    return HookReport(hooks=(hook,), warnings=_bare(project))


def worker(project: Project, ports: Ports) -> Hooks:  # noqa: ARG001 - one shape for all
    """What runs the hooks, as the settings have them now: a change of them holds when workers start again.

    The project's listener is told of hooks that never run; the others do.
    """
    config, folder = project.config, project.folder
    never = problems(config, folder, project.environ)
    for problem in never:
        project.listener(Progress(kind="notice", text=problem))

    @cache
    def runner() -> CommandRunner:
        from swarmgate.workspace.agent_programs.files import survey

        repository = project.repository()
        files = survey(config, repository.root, SPEAKING, lambda: repository.list_tree(repository.snapshot()))
        return project.command_runner(guarded=files.guarded)

    return Hooks(
        commands={event: command for event, command in config.hooks.items() if event in HOOKABLE},
        runner=runner,
        root=folder.root,
        hook_s=config.automation.hook_s,
        redact=project.redact,
        withheld=tuple(filter(None, (provider.api_key_env for provider in config.providers.values()))),
        problem="; ".join(never),
    )


def _hook(event: str, command: str, newest: Happening | None) -> Hook:
    try:
        last = HookRan.model_validate(newest.data) if newest else None
    except ValidationError:  # a line of another version, or of a hand
        last = None
    time = newest.time if newest and last else ""
    return Hook(event=event, command=command, last=last, time=time, problem="" if event in HOOKABLE else why_not(event))
