"""Begins councils for requests in the words of the reference, and reads what became of them; for routes and sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from swarmgate.council.critique.rules import RULES as CRITIQUE
from swarmgate.council.decision.view import record_of
from swarmgate.council.limits import VOICE_SECONDS, WHOLE_SECONDS
from swarmgate.council.orchestration.rules import RULES as ORCHESTRATION
from swarmgate.council.shared import new_id
from swarmgate.domain.metrics import Execution
from swarmgate.errors import NotAProject, NotFound, SwarmError
from swarmgate.server.accounts.model import Principal
from swarmgate.server.reference import progress, requests, results
from swarmgate.server.reference.bodies import (
    CritiqueBody,
    DiscussionBody,
    ExecutionBody,
    OrchestrationBody,
    PatternName,
    Task,
)
from swarmgate.server.reference.counting import Counted
from swarmgate.server.reference.envelope import now
from swarmgate.server.reference.progress import Happened
from swarmgate.server.runs.model import Council
from swarmgate.server.services.councils.councils import Councils
from swarmgate.server.services.councils.reading import Held
from swarmgate.server.services.councils.record import OnRecord

AnyBody = CritiqueBody | DiscussionBody | OrchestrationBody
Kind = Literal["critique", "discussion", "workflow"]

FAILED: Mapping[Kind, str] = {
    "critique": "SELF_CRITIQUE_FAILED",
    "discussion": "DISCUSSION_FAILED",
    "workflow": "ORCHESTRATION_FAILED",
}
"""The code of what did not come to its end."""

LONGEST_S: Mapping[Kind, float] = {
    "critique": VOICE_SECONDS.most,
    "discussion": WHOLE_SECONDS.most,
    "workflow": VOICE_SECONDS.most,
}
"""Seconds that a request may wait for the end of a council."""


class Begun(NamedTuple):
    """A council that was begun, or answered from an earlier one; `over`: its result is all there will be of it."""

    id: str
    kind: Kind
    cached: bool = False
    over: dict[str, Any] | None = None


@dataclass(frozen=True)
class Seen:
    """A council as who asks sees it now.

    Attributes:
        id: of the council.
        kind: as in the names of events.
        result: in the words of the reference.
        over: whether nothing follows by itself.
        events: what happened in it so far.
        end: how it ended; nothing while it goes on.
    """

    id: str
    kind: Kind
    result: dict[str, Any]
    over: bool
    events: tuple[Happened, ...]
    end: tuple[Happened, ...] = ()


def kind_of(pattern: str) -> Kind:
    """The kind of a pattern of the reference."""
    return "critique" if pattern == "self-critique" else "discussion" if pattern == "discussion" else "workflow"


def body_of(pattern: PatternName, given: Any) -> AnyBody:
    """The body of a request, checked.

    Raises:
        ValidationError: it is none.
    """
    kinds: Mapping[Kind, type[AnyBody]] = {
        "critique": CritiqueBody,
        "discussion": DiscussionBody,
        "workflow": OrchestrationBody,
    }
    return kinds[kind_of(pattern)].model_validate(given)


def generic(body: OrchestrationBody) -> tuple[PatternName, AnyBody]:
    """The pattern that a body names itself, and the body of that pattern: `POST /orchestrate` and `agent:orchestrate`.

    Raises:
        ValidationError: its options are not those of the pattern.
    """
    pattern = body.pattern or "sequential"
    if kind_of(pattern) == "workflow":
        return pattern, body
    common = {"config": body.options, "context": body.context, "timeoutMs": body.timeout_ms}
    task = body.tasks[0]
    if pattern == "self-critique":
        given = {**common, "task": task.model_dump(mode="json", by_alias=True)}
        return pattern, CritiqueBody.model_validate({**given, "config": {"qualityCriteria": _CRITERIA, **body.options}})
    return pattern, DiscussionBody.model_validate({**common, "topic": task.prompt})


_CRITERIA = (
    {"name": "completeness", "description": "Output fully addresses the request", "weight": 0.5, "threshold": 0.7},
    {"name": "clarity", "description": "Output is clear and well-structured", "weight": 0.5, "threshold": 0.7},
)
"""What an output is judged by where a request by `POST /orchestrate` does not say."""


class Executions:
    """Councils in the words of the reference.

    Args:
        councils: the service of them.
    """

    def __init__(self, councils: Councils) -> None:
        self._councils = councils

    async def begin(
        self, who: Principal, pattern: PatternName, body: AnyBody, *, repo: str = "", goal: str = "", token: str = ""
    ) -> Begun:
        """Begins a council, or answers from that of the same request.

        Args:
            who: asks.
            pattern: of the reference.
            body: of the request; an id in it is the client's own word for a task, and never ours.
            repo: in which repository; empty: the only one.
            goal: in whose project; empty: in none.
            token: as of `Councils.start`.

        Raises:
            SwarmError: as `Councils.start`; or the request names what there is not.
        """
        agents = await self.agents(who, repo=repo or await self._councils.repository_of(who, goal))
        asked = _translated(pattern, body, agents)
        kind = kind_of(pattern)
        if asked is None:
            id = new_id()  # noqa: A001 - the field's name
            return Begun(id, kind, over=results.nothing_selected(id, now()))
        said = {"pattern": pattern, "body": body.model_dump(mode="json", by_alias=True, exclude_unset=True)}
        view, cached = await self._councils.answered(
            who, asked.pattern, asked.arguments, repo=repo, goal=goal, asked=said, token=token
        )
        return Begun(view.id, kind, cached)

    async def execute(
        self, who: Principal, agent: str, body: ExecutionBody, *, repo: str = "", token: str = ""
    ) -> Begun:
        """Asks one agent of the registry.

        Raises:
            SwarmError: as `begin`.
        """
        task = Task(id="execute", agent_id=agent, prompt=body.prompt, timeout_ms=body.timeout_ms)
        whole = OrchestrationBody(tasks=(task,), context=body.context)
        return await self.begin(who, "sequential", whole, repo=repo, token=token)

    async def ended(self, who: Principal, id: str, *, within_s: float) -> Seen:  # noqa: A002 - the field's name
        """A council when it has ended, or as it stands after so many seconds.

        Raises:
            NotFound: there is none, or none that may be seen.
        """
        await self._councils.ended(who, id, within_s=within_s)
        return await self.seen(who, id)

    async def seen(self, who: Principal, id: str, kinds: tuple[Kind, ...] = ()) -> Seen:  # noqa: A002 - the field's name
        """A council as it stands.

        Args:
            who: asks.
            id: of the council.
            kinds: those that are asked for; none: any.

        Raises:
            NotFound: there is none, none that may be seen, or it was not begun in these words.
        """
        held, status = await self._councils.held(who, id)
        found = await asyncio.to_thread(_seen, held, status)
        if found is None or (kinds and found.kind not in kinds):
            raise NotFound(f"{(kinds or ('council',))[0].capitalize()} result not found")
        return found

    async def stop(self, who: Principal, id: str) -> None:  # noqa: A002 - the field's name
        """Has a council end at the next safe point.

        Raises:
            SwarmError: as `Councils.stop`.
        """
        await self._councils.stop(who, id)

    async def resume(self, who: Principal, id: str) -> None:  # noqa: A002 - the field's name
        """Has a council go on that was stopped.

        Raises:
            SwarmError: as `Councils.resume`.
        """
        await self._councils.resume(who, id)

    async def counted(self, who: Principal, *, repo: str = "", since: str = "") -> tuple[Counted, ...]:
        """The councils that were begun in these words and may be seen, for who counts them.

        Args:
            who: asks.
            repo: of one repository; empty: of all.
            since: those begun at that time (UTC, ISO 8601) and later; empty: all.
        """
        known = {each.id: each for each in await self._councils.executions(who, repo=repo)}
        return tuple(
            Counted(
                id=job.id,
                pattern=job.asked["pattern"],
                body=job.asked["body"],
                status=_word(job, known.get(job.id)),
                began=job.created,
                execution=known.get(job.id),
            )
            for job in await self._councils.jobs(who, repo=repo)
            if job.asked and job.created >= since
        )

    async def agents(self, who: Principal, *, repo: str = "") -> Mapping[str, Mapping[str, Any]] | None:
        """The agents of the settings, as `Councils.agents` has them; None: the repository was not fetched yet."""
        try:
            return await self._councils.agents(who, repo=repo)
        except NotAProject:
            return None


def _word(job: Council, found: Execution | None) -> str:
    """How a council stands, without its record being read."""
    if job.wanted is not None:
        return "queued" if found is None else "working"
    return found.status if found else "failed"


def _translated(pattern: str, body: AnyBody, agents: requests.Agents) -> requests.CouncilRequest | None:
    if isinstance(body, CritiqueBody):
        return requests.critique(body, agents)
    if isinstance(body, DiscussionBody):
        return requests.discussion(body, agents)
    return requests.orchestration(pattern, body, agents)


def _seen(held: Held, status: str) -> Seen | None:
    """A council that was begun in these words; None: it was not."""
    if held.job is None or not held.job.asked:
        return None
    pattern: PatternName = held.job.asked["pattern"]
    try:
        body = body_of(pattern, held.job.asked["body"])
    except ValidationError as error:  # written by another version
        raise SwarmError(f"The request of {held.id} cannot be read: {error.errors()[0]['msg']}") from None
    kind, over = kind_of(pattern), held.job.wanted is None
    if held.record is None:
        why = held.problem or (held.job.ended.message if held.job.ended else "")
        result = results.waiting(held.id, pattern, status, began=held.job.created, why=why)
        result |= {"iterations": [], "finalOutput": None, "finalScore": 0.0} if kind == "critique" else {}
        result |= {"rounds": [], "finalConsensus": "", "consensusScore": 0.0} if kind == "discussion" else {}
        events: list[Happened] = []
    else:
        result, events = _read(pattern, body, held.record, status)
    result = held.clean(result)
    at = held.job.ended.time if held.job.ended else held.job.created
    end = progress.end_of(kind, result, at) if over else ()
    return Seen(held.id, kind, result, over, tuple(held.clean(events)), tuple(end))


def _read(pattern: PatternName, body: AnyBody, found: OnRecord, status: str) -> tuple[dict[str, Any], list[Happened]]:
    """The result of a council so far, and what was told of it."""
    standing, record = found.record.standing, found.record
    if isinstance(body, CritiqueBody):
        result = results.critique(body, CRITIQUE.record(standing), standing, status)
        return result, list(progress.of_critique(body, record))
    if isinstance(body, DiscussionBody):
        result = results.discussion(body, record_of(standing), standing, status)
        return result, list(progress.of_discussion(body, record))
    result = results.orchestration(pattern, body, ORCHESTRATION.record(standing), standing, status)
    return result, list(progress.of_orchestration(pattern, body, record))
