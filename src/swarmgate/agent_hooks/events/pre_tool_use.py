"""Decides whether a tool may be used: command lines by the command policy, writes by where they lead."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.agent_hooks.answer import Answer, refused
from swarmgate.agent_hooks.places import top_of

if TYPE_CHECKING:
    from swarmgate.agent_hooks.request import HookRequest
    from swarmgate.workspace.command_policy.verdict import Judgement

_WAY_OUT = "The person may run it, or let it through with [commands] allow (swarm docs agent-hooks#commands)."


def answer(request: HookRequest) -> Answer:
    """The answer to a tool that is about to be used."""
    command = request.command
    if command is not None:
        return _command(request.event, command, request.cwd)
    root = top_of(request.cwd) or request.cwd
    for path in request.paths:
        if why := _guarded(path, root):
            return refused(request.event, f"swarmgate refuses to write {_shown(path)}: {why}")
    return Answer()


def _command(event: str, command: str, cwd: str) -> Answer:
    found = _judged(command, cwd)
    if found.allowed:
        return Answer()
    from swarmgate.domain.text.printable import printable  # noqa: PLC0415 - late: only to tell

    reasons = [f"- `{each.command}`: {each.why} ({each.rule})" for each in found.reasons]
    return refused(event, printable("\n".join(["swarmgate refuses this command; it was not run:", *reasons, _WAY_OUT])))


def _judged(command: str, cwd: str) -> Judgement:
    """The judgement; the settings are read only where they may lift a refusal: they take longer than all the rest."""
    from swarmgate.workspace.command_policy.policy import judge  # noqa: PLC0415 - late: no other tool needs a parser

    root = Path(top_of(cwd) or cwd)
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises where there is none
    found = judge(command, root=root, home=home, cwd=cwd, own_history=True)
    if found.allowed:
        return found
    from swarmgate.project import settings_at  # noqa: PLC0415 - late: see above

    limits = settings_at(root)[1].commands
    writable = tuple(Path(each).expanduser() for each in limits.writable)
    return judge(command, root=root, home=home, cwd=cwd, allow=limits.allow, writable=writable, own_history=True)


def _guarded(path: str, root: str) -> str:
    """Why nothing is written to a path, links resolved and spelling as lenient as a file system's; empty: it may be."""
    from swarmgate.agent_hooks.programs.listing import holds_hooks  # noqa: PLC0415 - late: reads the file
    from swarmgate.workspace.command_policy.model import Word  # noqa: PLC0415 - late: as for commands
    from swarmgate.workspace.command_policy.path_zones import Grounds, Zone  # noqa: PLC0415 - late: see above

    real = os.path.realpath(path)
    if any(Grounds(root).zone(Word(each), root) is Zone.GUARDED for each in (path, real)):
        return ".git and .swarm are not an agent's to write"
    return "it holds the hooks that judge this session; the person may change it" if holds_hooks(real) else ""


def _shown(path: str) -> str:
    from swarmgate.domain.text.printable import printable  # noqa: PLC0415 - late: only to tell

    return printable(path).replace("\n", "\ufffd")
