"""Decides whether a session may end: what it changed has to pass the gates, but it is held only a few times."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.agent_hooks.answer import Answer, refused, told
from swarmgate.agent_hooks.places import top_of
from swarmgate.agent_hooks.sessions import LetGo, Session, Sessions, now
from swarmgate.config.agent_hooks import AgentHooks
from swarmgate.errors import SwarmError
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from swarmgate.agent_hooks.request import HookRequest

_LOST = ""
"""The id of the session of a request that cannot be read."""
_WAY_OUT = "swarm docs agent-hooks#ways-out"


def answer(request: HookRequest) -> Answer:
    """The answer to a session that wants to end."""
    root = top_of(request.cwd)
    if not root:
        return Answer()
    repository = Repository.discover(Path(root), lenient=True)
    sessions = Sessions(repository)
    session = sessions.of(request.session)
    if request.again is False:  # the person spoke since it was held
        session = session.model_copy(update={"held": 0})
    try:
        settings = _settings(repository.root)
        tree, base = repository.snapshot(), sessions.base(session)
        problem = "" if tree in {base, session.passed} else _found(repository, base, settings.gates_s)
    except SwarmError as error:
        settings, tree, problem = (
            AgentHooks(),
            "",
            f"swarmgate could not judge it: {error.message} {error.hint}".strip(),
        )
    if problem:
        return _held(request.event, sessions, session, settings, tree, problem)
    sessions.keep(session.model_copy(update={"held": 0, "passed": tree}))
    return Answer()


def unjudged(why: str, folder: str) -> Answer:
    """The answer where the request cannot be read, or judging broke: such a session is held, and let go, as any other.

    Args:
        why: what happened.
        folder: where this process works.
    """
    try:
        sessions = Sessions(Repository.discover(Path(top_of(folder) or folder), lenient=True))
        return _held("", sessions, sessions.of(_LOST), AgentHooks(), "", f"swarmgate could not judge it: {why}")
    except (SwarmError, OSError):
        return told(f"swarmgate could not judge this session, and lets it end: {why}")


def _settings(root: Path) -> AgentHooks:
    from swarmgate.project import settings_at  # noqa: PLC0415 - late: most folders are no repository

    return settings_at(root)[1].agent_hooks


def _held(event: str, sessions: Sessions, session: Session, settings: AgentHooks, tree: str, problem: str) -> Answer:
    """Holds the session; or tells the person and lets it go, when it was held as often as the settings say."""
    if session.held >= settings.tries:
        gone = LetGo(time=now(), tree=tree, why=problem.partition("\n")[0])
        sessions.keep(session.model_copy(update={"held": 0, "let_go": (*session.let_go, gone)}))
        head = f"swarmgate held this session {session.held} times, and lets it end. It does NOT pass the gates:"
        return told(f"{head}\n{problem}\nIt stands in: swarm hook status")
    number = session.held + 1
    sessions.keep(session.model_copy(update={"held": number}))
    return refused(
        event,
        f"swarmgate holds this session ({number} of {settings.tries}): what it changed does not pass the gates.\n"
        f"{problem}\n"
        "Mend what is found, without suppressing it, and end again. `swarm gates explain RULE` says what a rule wants. "
        f"What cannot be mended, tell the person ({_WAY_OUT}).",
    )


def _found(repository: Repository, base: str, within_s: float) -> str:
    """What blocks, as a text; empty: it passes. Gates that take longer are not waited for, and it has not passed."""
    from swarmgate.agent_hooks import judging  # noqa: PLC0415 - late: where nothing changed, nothing is judged
    from swarmgate.agent_hooks.findings import listed  # noqa: PLC0415 - late: see above

    found: list[str | Exception] = []

    def judge() -> None:
        try:
            found.append(listed(judging.of_session(repository, base)))
        except Exception as error:  # noqa: BLE001 - it is raised where somebody waits for it
            found.append(error)

    thread = threading.Thread(target=judge, daemon=True)
    thread.start()
    thread.join(within_s)
    if not found:
        return f"The gates did not end within {within_s:g} s ([agent_hooks] gates_s)."
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]
