"""Hooks put together: the user's commands from the settings, the sandbox, and the keys that are masked."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from pydantic import ValidationError

from swarmgate.automation.hooks import Hooks, require_known, why_not
from swarmgate.domain.automation import Happening, HookRan
from swarmgate.domain.events import EVENTS
from swarmgate.domain.hooks import HOOKABLE, Hook, HookReport, sample
from swarmgate.errors import UsageError
from swarmgate.ledger.journal import Journal
from swarmgate.ledger.ledger import Ledger

if TYPE_CHECKING:
    from swarmgate.engine.swarm import Swarm
    from swarmgate.workspace.sandbox.running import CommandRunner


def report(swarm: Swarm) -> HookReport:
    """The user's commands on events, and how the newest run of each went.

    Raises:
        ConfigError: one is for an event that does not exist.
    """
    require_known(swarm.config)
    newest: dict[str, Happening] = {}
    with contextlib.suppress(OSError):  # a journal that cannot be read takes no hook from the list
        for happening in Journal(swarm.folder).read():
            if happening.type == "hook_ran":
                newest[str(happening.data.get("event"))] = happening
    return HookReport(
        hooks=tuple(_hook(event, command, newest.get(event)) for event, command in swarm.config.hooks.items())
    )


def try_hook(swarm: Swarm, name: str) -> HookReport:
    """Runs the command of one event now, with a made-up event of that type. The journal is not told.

    Raises:
        ConfigError: a hook is for an event that does not exist.
        UsageError: there is no such event, or no hook on it.
    """
    require_known(swarm.config)
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
    return HookReport(hooks=(Hook(event=name, command=swarm.config.hooks[name], last=ran, time=now),))


def worker(swarm: Swarm) -> Hooks:
    """What runs the hooks, as the settings have them now: a change of them holds when workers start again.

    Raises:
        ConfigError: one is for an event that does not exist.
    """
    require_known(swarm.config)
    config, folder = swarm.config, swarm.folder
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
        commands=config.hooks,
        runner=runner,
        root=folder.root,
        hook_s=config.automation.hook_s,
        redact=around.redact,
        withheld=tuple(filter(None, (provider.api_key_env for provider in config.providers.values()))),
    )


def _hook(event: str, command: str, newest: Happening | None) -> Hook:
    try:
        last = HookRan.model_validate(newest.data) if newest else None
    except ValidationError:  # a line of another version, or of a hand
        last = None
    return Hook(event=event, command=command, last=last, time=newest.time if newest and last else "")
