"""Makes goals that are not there yet, and records what a person decides about one, from any machine with access."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from swarmgate.config import load
from swarmgate.domain.actor import USER
from swarmgate.domain.events.event import GoalSet
from swarmgate.domain.state.unattended import Unattended, rules_of
from swarmgate.engine.initialise import initialise
from swarmgate.engine.swarm import Swarm
from swarmgate.errors import LeaseLost, UsageError
from swarmgate.fleet.goals import checkout as goals
from swarmgate.fleet.goals.checkout import Checkout, Site
from swarmgate.fleet.goals.goal import PRIORITIES, Goal, Summary, Wish, new_id, now, summarised
from swarmgate.fleet.goals.publication import GoalPublication
from swarmgate.workspace.git.driver import call

_BROUGHT = ("config.toml", "context.md", "gates", "prompts")
"""What of the `.swarm/` of whoever submits a goal goes with it."""
_TRIES = 5
R = TypeVar("R")


def submit(
    site: Site,
    text: str,
    *,
    settings: Path | None,
    spec: str = "",
    queue: str = "default",
    priority: int = 0,
    argv: tuple[str, ...] = (),
    files: Mapping[str, bytes] | None = None,
    name: str = "",
    environ: Mapping[str, str] | None = None,
    actor: str = USER,
) -> tuple[Goal, Summary]:
    """Makes a goal in the remote: its ledger begins, and no worker knows of it yet.

    Args:
        site: of the repository.
        text: what is wanted.
        settings: the `.swarm/` whose settings, gates and prompts go with it; None: those of the base branch.
        spec: more about it.
        queue: the class of workers.
        priority: goals of a higher one go first.
        argv: of an errand: what a worker runs; empty: it is a goal.
        files: of an errand: what goes with it, by their names in `.swarm/errand/`.
        name: the id that it gets; empty: a new one.
        environ: for the settings.
        actor: who wants it, as the ledger names them.

    Raises:
        UsageError: there is nothing said, no settings, or no such priority.
        RemoteAway: the remote is out of reach.
        LeaseLost: there is a goal of that id.
    """
    if not text.strip():
        raise UsageError("There is no goal.", hint='Say what is wanted: swarm fleet submit "Build JWT auth"')
    if not PRIORITIES[0] <= priority <= PRIORITIES[1]:
        raise UsageError(f"There is no priority {priority}.", hint=f"It is {PRIORITIES[0]} to {PRIORITIES[1]}")
    goal = Goal(site.name, name or new_id())
    here = settings.parent if settings else Path.cwd()
    wish = Wish(
        text=text,
        queue=queue,
        priority=priority,
        base=site.base,
        author=git_setting(here, "user.name"),
        email=git_setting(here, "user.email"),
        created=now(),
        argv=argv,
    )
    with goals.begun(site, goal, wish) as found:
        _bring(found, settings)
        initialise(found.root)
        for each, content in (files or {}).items():
            found.attached(each).parent.mkdir(exist_ok=True)
            found.attached(each).write_bytes(content)
        rules = rules_at(found, environ)
        publication = GoalPublication(found, rules=rules)
        swarm = Swarm(found.root, publication=publication, environ=environ)
        with swarm.project.writing() as ledger:
            if argv:
                publication.recorded(ledger)
            else:
                ledger.append([GoalSet(goal=text, spec=spec)], expect=ledger.state.seq, actor=actor)
        return goal, summarised(swarm.state, wish, rules, decided=True)


def decide(
    site: Site,
    goal: Goal,
    decision: Callable[[Swarm], R],
    *,
    environ: Mapping[str, str] | None = None,
    actor: str = USER,
    expect: int | None = None,
) -> tuple[R, Summary]:
    """Records what a person decides, on the goal as it is now; when a worker was faster, on what that left.

    Args:
        site: of the repository.
        goal: which one.
        decision: what is done with it; it is done again where the goal moved on meanwhile.
        environ: for the settings.
        actor: who decides, as the ledger names them.
        expect: the ledger position that they looked at; None: whichever it is at.

    Raises:
        StaleWriter: the ledger is not at that position.
        SwarmError: of the decision, which does not fit.
        LeaseLost: workers were faster each time.
        RemoteAway: the remote is out of reach.
    """
    for attempt in range(_TRIES):
        with goals.checked_out(site, goal) as found:
            rules = rules_at(found, environ)
            publication = GoalPublication(found, rules=rules, decided=True)
            swarm = Swarm(found.root, publication=publication, environ=environ, actor=actor, expect=expect)
            try:
                result = decision(swarm)
            except LeaseLost:
                if attempt == _TRIES - 1:
                    raise
                continue
            return result, summarised(swarm.state, found.wish, rules, decided=True)
    raise AssertionError("the last attempt returns or raises")


def rules_at(found: Checkout, environ: Mapping[str, str] | None) -> Unattended:
    """What is approved in the user's place, as the goal's own settings say."""
    approve = load(project_file=found.folder.config, environ=environ).approve
    return rules_of(approve.auto, approve.phases_in_a_row, None)


def _bring(found: Checkout, settings: Path | None) -> None:
    """Puts the settings of whoever submits, or those of the base branch, into the goal's `.swarm/`."""
    target = found.folder.path
    if settings is None:
        call(found.root, "checkout", "--quiet", "refs/swarm/base", "--", ".swarm")
        for each in target.iterdir() if target.is_dir() else ():
            if each.name not in _BROUGHT:
                shutil.rmtree(each) if each.is_dir() else each.unlink()
        return
    target.mkdir()
    for name in _BROUGHT:
        source = settings / name
        if source.is_dir():
            shutil.copytree(source, target / name)
        elif source.is_file():
            shutil.copyfile(source, target / name)


def git_setting(folder: Path, key: str) -> str:
    """What the user has set in git, as a repository in a folder sees it; empty: nothing."""
    code, out, _ = call(folder, "config", "--get", key)
    return "" if code else out.decode(errors="replace").strip()
