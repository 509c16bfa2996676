"""Hooks put together: the user's commands from the settings, the sandbox, and the keys that are masked."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from pydantic import ValidationError

from swarmgate.automation.hooks import Hooks, unknown_hooks, why_not
from swarmgate.config import PROJECT_FILE
from swarmgate.domain.automation import Happening, HookRan
from swarmgate.domain.events import EVENTS
from swarmgate.domain.hooks import HOOKABLE, Hook, HookReport, sample
from swarmgate.engine.progress import Progress
from swarmgate.errors import UsageError
from swarmgate.ledger.automation_log import AutomationLog
from swarmgate.ledger.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from swarmgate.config import Config
    from swarmgate.engine.swarm import Swarm
    from swarmgate.ledger.folder import SwarmFolder
    from swarmgate.workspace.sandbox.running import CommandRunner


_BARE = (
    '[commands] sandbox = "none": nothing keeps a hook from writing into the repository, and what it writes there is '
    "taken for an agent's work. Let it write to $SWARMGATE_FOLDER."
)


def report(swarm: Swarm) -> HookReport:
    """The user's commands on events, and how the newest run of each went."""
    newest: dict[str, Happening] = {}
    with contextlib.suppress(OSError):  # a journal that cannot be read takes no hook from the list
        for happening in AutomationLog(swarm.folder).read():
            if happening.type == "hook_ran":
                newest[str(happening.data.get("event"))] = happening
    return HookReport(
        hooks=tuple(_hook(event, command, newest.get(event)) for event, command in swarm.config.hooks.items()),
        warnings=(*problems(swarm.config, swarm.folder, swarm.made_with[1]), *_bare(swarm)),
    )


def problems(config: Config, folder: SwarmFolder, environ: Mapping[str, str]) -> tuple[str, ...]:
    """A line for each hook that never runs, since there is no such event, with the place in the settings."""
    from swarmgate.automation.doctor.places import written  # noqa: PLC0415 - late: it is rare

    def told(event: str) -> str:
        where, line = written(folder, environ).of("hooks", event)
        place = f"{where or PROJECT_FILE}{f' line {line}' if line else ''}"
        return f"{place}: the hook of {event} never runs: {why_not(event)}"

    return tuple(told(event) for event in unknown_hooks(config))


def _bare(swarm: Swarm) -> tuple[str, ...]:
    """What holds where nothing confines hooks."""
    if not swarm.config.hooks or swarm.config.commands.sandbox != "none":
        return ()
    return (_BARE,)


def try_hook(swarm: Swarm, name: str) -> HookReport:
    """Runs the command of one event now, with a made-up event of that type. The journal is not told.

    Raises:
        UsageError: there is no such event, or no hook on it.
    """
    if name not in HOOKABLE:
        raise UsageError(f"{name}: {why_not(name)}.", hint="See: swarm hooks, docs/hooks.md")
    if name not in swarm.config.hooks:
        there = ", ".join(swarm.config.hooks) or "there are none"
        raise UsageError(f"There is no hook on {name}.", hint=f"Hooks: {there}. Make one in [hooks] of config.toml.")
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    happening = Happening(
        source="ledger" if name in EVENTS else "automation", seq=0, time=now, actor="user", data=sample(name)
    )
    ran = worker(swarm).run(happening, Ledger.read(swarm.folder).state)
    hook = Hook(event=name, command=swarm.config.hooks[name], last=ran, time=now)
    return HookReport(hooks=(hook,), warnings=_bare(swarm))


def worker(swarm: Swarm) -> Hooks:
    """What runs the hooks, as the settings have them now: a change of them holds when workers start again.

    The project's listener is told of hooks that never run; the others do.
    """
    config, folder = swarm.config, swarm.folder
    never = problems(config, folder, swarm.made_with[1])
    for problem in never:
        swarm.made_with[0](Progress(kind="notice", text=problem))
    around = swarm.surroundings()

    @cache
    def runner() -> CommandRunner:
        from swarmgate.automation.agent_files import survey  # noqa: PLC0415 - brings all rooms
        from swarmgate.engine.build import SPEAKING, command_runner  # noqa: PLC0415 - as above
        from swarmgate.workspace.repository import Repository  # noqa: PLC0415 - as above

        repository = Repository.discover(folder.root)
        files = survey(config, repository.root, SPEAKING, lambda: repository.list_tree(repository.snapshot()))
        return command_runner(config, folder, repository, files.guarded)

    return Hooks(
        commands={event: command for event, command in config.hooks.items() if event in HOOKABLE},
        runner=runner,
        root=folder.root,
        hook_s=config.automation.hook_s,
        redact=around.redact,
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
