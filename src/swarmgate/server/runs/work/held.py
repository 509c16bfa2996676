"""What a worker does with a council: begins it under its id, or goes on with it, with what people said to it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from swarmgate.council.decision.user_choices import PersonalVote
from swarmgate.errors import Archived, UsageError
from swarmgate.server.runs import patterns
from swarmgate.server.runs.answers import Answers, DiscussionAnswer
from swarmgate.server.runs.model import Council

if TYPE_CHECKING:
    from swarmgate.council.facade import Council as Facade
    from swarmgate.server.runs.jobs import Jobs
    from swarmgate.server.runs.work.session import Session


async def hold(session: Session, jobs: Jobs, council: Council) -> int:
    """Holds a council, to its end or until it waits for a person; returns the exit code of that.

    Raises:
        SwarmError: what ended it; it is on record, and it can go on.
    """
    session.check()
    with jobs.project(council) as project:
        facade = session.swarm(project).council
        work = asyncio.ensure_future(_work(facade, council, session.wanted.arguments))
        session.stops_at_once(work)
        session.check()
        try:
            await work
        except Archived:  # a chat that was over when a worker before this one died
            return 0
    return 0


def _work(facade: Facade, council: Council, given: Mapping[str, Any]) -> Coroutine[Any, Any, Any]:
    id, pattern = council.id, council.pattern  # noqa: A001 - the field's name
    more = patterns.budgets(pattern, given)
    people = {"people": _people(given)} if _has_user(council) else {}
    if id not in facade.shared.records.documents.records():
        return patterns.begin(facade, pattern, id, {**council.request, **people})
    if "vote" in given:
        vote = PersonalVote.model_validate(given["vote"])
        return facade.answer_decision(id, vote, who=given.get("person", ""), **more)
    return patterns.resume(facade, pattern, id, more | people)


def _has_user(council: Council) -> bool:
    """Whether it is a discussion in which a user has a word."""
    return council.pattern == "discussion" and bool(council.request.get("user"))


def _people(given: Mapping[str, Any]) -> Answers:
    return Answers(DiscussionAnswer.model_validate(given.get("answer") or {}))


def checked(council: Council, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What is said to a council when it goes on: budgets, and what a person says to it.

    Raises:
        UsageError: it is nothing that the pattern takes.
    """
    found = patterns.budgets(council.pattern, arguments)
    said = {key: value for key, value in arguments.items() if key in ("vote", "person", "answer") and value}
    try:
        if council.pattern == "decision" and said.keys() <= {"vote", "person"}:
            PersonalVote.model_validate(said.get("vote", {}))
        elif _has_user(council) and said.keys() <= {"answer"}:
            DiscussionAnswer.model_validate(said.get("answer", {}))
        elif said:
            raise UsageError(f"This {council.pattern} takes no {' and no '.join(said)}.")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(each) for each in first["loc"])
        raise UsageError(f"`{where}`: {first['msg']}.") from None
    return {**found, **said}
