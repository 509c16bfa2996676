"""The services of a team server behind the tools, in the name of who asks: services know the roles."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from swarmgate.domain.base import Frozen
from swarmgate.domain.progress import Progress
from swarmgate.domain.text.cleaning import plain
from swarmgate.errors import IllegalMove, UsageError
from swarmgate.mcp import answers
from swarmgate.mcp.backend import Call, Document
from swarmgate.project import settings_at
from swarmgate.server.accounts.model import Principal
from swarmgate.server.services.services import Services
from swarmgate.server.services.views.record import CouncilView, GateRunView
from swarmgate.server.services.views.run import RunView
from swarmgate.workspace.command_policy.explanation import explain

T = TypeVar("T")

_LOOK_S = 0.5
"""Seconds between two looks at work that goes on."""
_LINES = 1_000
"""Lines of history that are read at once."""
_PATTERNS = {"debate": "debate", "discuss": "discussion", "decide": "decision"}


class Remote:
    """The projects of a server, as far as somebody may see and touch them.

    Args:
        services: of the server.
        who: asks.
    """

    def __init__(self, services: Services, who: Principal) -> None:
        self._services, self._who = services, who

    async def call(self, tool: str, asked: Any, call: Call) -> Frozen:
        """Does what a tool is for; raises as the services do."""
        if tool in _PATTERNS:
            return await self._council(_PATTERNS[tool], asked, call)
        doing: Callable[[Any, Call], Awaitable[Frozen]] = getattr(self, f"_{tool}")
        return await doing(asked, call)

    def cleaner(self) -> Callable[[str], str]:
        """What the services answer is clean of the keys of its project; this is for what else there is."""
        return plain

    # --- resources ---

    async def plan_document(self, goal: str) -> Document:
        """The plan as plan.md has it."""
        return Document("plan.md", "text/markdown", (await self._services.goals.plan(self._who, goal)).markdown)

    async def entry(self, goal: str, seq: int) -> Document:
        """One line of the ledger, as JSON."""
        page = await self._services.ledger.page(self._who, goal, after=str(max(seq - 1, 0)), limit=1)
        if not page.items or page.items[0].seq != seq:
            raise UsageError(f"The ledger has no line {seq}.", hint="The tool `history` lists those that it has.")
        return Document(str(seq), "application/json", page.items[0].model_dump_json())

    async def evidence(self, goal: str, task: str, attempt: int, name: str) -> Document:
        """One file of the evidence of an attempt; without a name the list of them, as JSON."""
        if not name:
            files = await self._services.evidence.list(self._who, goal, task, attempt)
            return Document(f"{task}/{attempt}", "application/json", files.model_dump_json())
        found = await self._services.evidence.read(self._who, goal, task, attempt, name)
        return Document(name, found.media_type, found.text)

    async def handoff(self, goal: str) -> Document:
        """One page on where the work stands."""
        return Document(
            "handoff.md", "text/markdown", (await self._services.checks.handoff(self._who, goal)).handoff.page
        )

    # --- looking ---

    async def _status(self, asked: Any, _: Call) -> Frozen:
        found = (await self._services.goals.get(self._who, asked.goal_id)).status
        if found is None:
            raise IllegalMove(
                "There is no ledger of this goal yet.", hint="Its plan is made as soon as a worker is free."
            )
        return found

    async def _show(self, asked: Any, _: Call) -> Frozen:
        return (await self._services.tasks.get(self._who, asked.goal_id, asked.task)).report

    async def _failures(self, asked: Any, _: Call) -> Frozen:
        return answers.Failures(groups=(await self._services.goals.failures(self._who, asked.goal_id)).groups)

    async def _history(self, asked: Any, _: Call) -> Frozen:
        lines: list[Any] = []
        after = ""
        while True:
            page = await self._services.goals.history(
                self._who, asked.goal_id, task=asked.task, after=after, limit=_LINES
            )
            lines += page.items
            if not (after := page.next):
                return answers.History(lines=tuple(lines))

    async def _verify(self, asked: Any, _: Call) -> Frozen:
        audit = await self._services.ledger.verify(self._who, asked.goal_id)
        checks = tuple(answers.CheckLine(**each.model_dump()) for each in audit.checks)
        return answers.Verified(passed=audit.passed, checks=checks)

    async def _cost(self, asked: Any, _: Call) -> Frozen:
        return await self._services.cost.report(self._who, goal=asked.goal_id, by="task")

    # --- gates and guards ---

    async def _gates_run(self, asked: Any, call: Call) -> Frozen:
        if asked.fix or asked.staged or asked.paths or asked.skip:
            raise UsageError(
                "A team server judges the work tree of a goal: fix, staged, paths and skip are for a project at hand.",
                hint="Give base, everything or only.",
            )
        began = await self._services.gates.start(
            self._who, asked.goal_id, base=asked.base, everything=asked.everything, only=asked.only
        )
        operations = self._services.operations
        ended = await self._until(
            lambda: operations.get(self._who, began.id), lambda each: each.state != "working", call
        )
        if not isinstance(ended.result, GateRunView):
            raise UsageError(ended.problem or "The gates gave no report.", hint=ended.hint)
        report = ended.result.report
        return answers.Judged.of(report, ended.result.about, 1 if report.blocking else 0)

    async def _gates_explain(self, asked: Any, _: Call) -> Frozen:
        return (await self._services.gates.explain(self._who, asked.goal_id, asked.rule)).rule

    async def _guard_check(self, asked: Any, _: Call) -> Frozen:
        goal = self._services.gates.access.goal(self._who, asked.goal_id)

        def explained() -> answers.CommandJudged:
            root, config = settings_at(Path(goal.path))
            limits = config.commands
            found = explain(
                asked.command, root=root, allow=limits.allow, writable=limits.writable, sandbox=limits.sandbox
            )
            return answers.CommandJudged.model_validate(found.as_json())

        return await asyncio.to_thread(explained)

    # --- work ---

    async def _council(self, pattern: str, asked: Any, call: Call) -> Frozen:
        councils = self._services.councils
        request = asked.model_dump(exclude={"after", "repository", "goal_id"}, exclude_defaults=True)
        began = await councils.start(self._who, pattern, request, repo=asked.repository, goal=asked.goal_id)
        ended: CouncilView = await self._until(
            lambda: councils.get(self._who, began.id),
            lambda council: council.status not in {"queued", "working"},
            call,
            lambda: councils.stop(self._who, began.id),
        )
        return ended

    async def _plan(self, asked: Any, call: Call) -> Frozen:
        if not asked.goal.strip() or asked.answers:
            raise UsageError(
                "On a team server, a plan begins with a goal; a person answers questions in its page.",
                hint="Give goal.",
            )
        goal = await self._services.goals.create(
            self._who, repo=asked.repository, text=asked.goal.strip(), spec=asked.spec
        )
        return await self._worked(goal.id, call)

    async def _run(self, asked: Any, call: Call) -> Frozen:
        if asked.seconds:
            raise UsageError("On a team server a run has no limit of seconds.", hint="Leave it out; cancel the call.")
        await self._services.runs.start(self._who, asked.goal_id)
        return await self._worked(asked.goal_id, call)

    async def _worked(self, goal: str, call: Call) -> RunView:
        runs = self._services.runs
        return await self._until(
            lambda: runs.get(self._who, goal),
            lambda run: run.state not in {"queued", "working", "stopping"},
            call,
            lambda: runs.stop(self._who, goal),
        )

    # --- inside ---

    async def _until(
        self,
        look: Callable[[], Awaitable[T]],
        over: Callable[[T], bool],
        call: Call,
        stop: Callable[[], Awaitable[object]] | None = None,
    ) -> T:
        """What work came to; a call that is cancelled has it stopped at its next safe point."""
        try:
            while not over(found := await look()):
                call.listener(Progress(kind="waiting", text=str(getattr(found, "status", getattr(found, "state", "")))))
                await asyncio.sleep(_LOOK_S)
        except asyncio.CancelledError:
            if stop is not None:
                await stop()
            raise
        return found
