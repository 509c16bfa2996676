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
    from swarmgate.server.runs.session import Session


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


def _work(facade: Facade, council: Council, arguments: Mapping[str, Any]) -> Coroutine[Any, Any, Any]:
    id, pattern = council.id, council.pattern  # noqa: A001 - the field's name
    answer, more = arguments.get("answer"), patterns.budgets(pattern, arguments)
    if id not in facade.shared.records.documents.records():
        return patterns.begin(facade, pattern, id, _with_people(council, answer))
    if pattern == "decision" and answer:
        who = str(answer.get("who", ""))
        return facade.answer_decision(id, PersonalVote.model_validate(_vote(answer)), who=who, **more)
    if pattern == "discussion" and council.request.get("user"):
        more["people"] = _people(answer)
    return patterns.resume(facade, pattern, id, more)


def _with_people(council: Council, answer: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if council.pattern == "discussion" and council.request.get("user"):
        return {**council.request, "people": _people(answer)}
    return council.request


def _people(answer: Mapping[str, Any] | None) -> Answers:
    return Answers(DiscussionAnswer.model_validate(answer) if answer else None)


def checked(council: Council, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What is said to a council when it goes on: budgets, and the answer of a person.

    Raises:
        UsageError: it is none that the pattern takes.
    """
    found = patterns.budgets(council.pattern, arguments)
    if (answer := arguments.get("answer")) is None:
        return found
    try:
        if council.pattern == "decision":
            PersonalVote.model_validate(_vote(answer))
        elif council.pattern == "discussion" and council.request.get("user"):
            DiscussionAnswer.model_validate(answer)
        else:
            raise UsageError(f"This {council.pattern} asks no person anything.")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(each) for each in first["loc"])
        raise UsageError(f"The answer's `{where}`: {first['msg']}.") from None
    return {**found, "answer": dict(answer)}


def _vote(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key != "who"}
