"""The project at hand behind the tools: each calls the facade, and holds no rule of its own."""

# ruff: noqa: PLC0415 - late, for start-up time: each tool brings the rooms that it needs

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.domain.progress import silent
from swarmgate.engine.swarm import Swarm
from swarmgate.errors import UsageError
from swarmgate.mcp import answers, person
from swarmgate.mcp.backend import Call, Document
from swarmgate.project import Project, settings_at

if TYPE_CHECKING:
    from swarmgate.domain.base import Frozen
    from swarmgate.domain.spending.cost import CostReport
    from swarmgate.engine.reports.status import StatusReport, TaskReport
    from swarmgate.gates.explain import Explained
    from swarmgate.mcp import arguments

_TYPES = {".json": "application/json", ".patch": "text/x-diff"}


class Local:
    """One project on this machine.

    Args:
        start: a folder in the repository.
        environ: where keys and `SWARM_*` settings are looked up.
    """

    def __init__(self, start: Path, environ: Mapping[str, str]) -> None:
        self._start, self._environ = start, dict(environ)
        self._calls: dict[str, Callable[[Any, Call], Awaitable[Frozen]]] = {
            "gates_run": self._gates_run,
            "gates_explain": self._gates_explain,
            "guard_check": self._guard_check,
            "status": self._status,
            "show": self._show,
            "failures": self._failures,
            "history": self._history,
            "verify": self._verify,
            "cost": self._cost,
            "debate": self._debate,
            "discuss": self._discuss,
            "decide": self._decide,
            "plan": self._plan,
            "run": self._run,
        }

    async def call(self, tool: str, asked: Any, call: Call) -> Frozen:
        """Does what a tool is for; raises as the facade does."""
        return await self._calls[tool](asked, call)

    def cleaner(self) -> Callable[[str], str]:
        """What takes the secrets of the project, and control characters, out of texts; its settings are read anew."""
        return Project(self._start, environ=self._environ).cleaner()

    # --- resources ---

    async def plan_document(self, goal: str) -> Document:
        """The plan as the ledger has it, in the form of plan.md."""
        _require_none(goal)
        return await asyncio.to_thread(self._read_plan)

    async def entry(self, goal: str, seq: int) -> Document:
        """One line of the ledger, as JSON; raises `UsageError` where there is none."""
        _require_none(goal)
        return await asyncio.to_thread(self._read_entry, seq)

    async def evidence(self, goal: str, task: str, attempt: int, name: str) -> Document:
        """One file that the ledger names; without a name the list of them. Raises `UsageError` where there is none."""
        _require_none(goal)
        return await asyncio.to_thread(self._read_evidence, task, attempt, name)

    async def handoff(self, goal: str) -> Document:
        """The handoff page; it is not written."""
        _require_none(goal)
        page = await asyncio.to_thread(lambda: self._swarm().automation.handoff(write=False))
        return Document("handoff.md", "text/markdown", page.page)

    # --- looking ---

    async def _gates_run(self, asked: arguments.GatesRun, call: Call) -> answers.Judged:
        del call
        from swarmgate.gates.verbs.request import Request
        from swarmgate.gates.verbs.run import judging

        request = Request(self._start, asked.base, asked.staged, asked.everything, asked.paths, asked.fix)
        judged = await judging(request, only=asked.only, skip=asked.skip)
        return answers.Judged.of(judged.report, judged.about, judged.exit_code)

    async def _gates_explain(self, asked: arguments.GatesExplain, call: Call) -> Explained:
        del call
        from swarmgate.gates.verbs.explain import explain

        return await asyncio.to_thread(explain, self._start, asked.rule)

    async def _guard_check(self, asked: arguments.GuardCheck, call: Call) -> answers.CommandJudged:
        del call
        from swarmgate.workspace.command_policy.explanation import explain

        def explained() -> answers.CommandJudged:
            root, config = settings_at(self._start)
            limits = config.commands
            found = explain(
                asked.command, root=root, allow=limits.allow, writable=limits.writable, sandbox=limits.sandbox
            )
            return answers.CommandJudged.model_validate(found.as_json())

        return await asyncio.to_thread(explained)

    async def _status(self, asked: arguments.Nothing, call: Call) -> StatusReport:
        del asked, call
        return await asyncio.to_thread(lambda: self._swarm().status())

    async def _show(self, asked: arguments.Show, call: Call) -> TaskReport:
        del call
        return await asyncio.to_thread(lambda: self._swarm().show(asked.task))

    async def _failures(self, asked: arguments.Nothing, call: Call) -> answers.Failures:
        del asked, call
        return answers.Failures(groups=await asyncio.to_thread(lambda: self._swarm().failures()))

    async def _history(self, asked: arguments.History, call: Call) -> answers.History:
        del call
        return answers.History(lines=await asyncio.to_thread(lambda: self._swarm().history(task=asked.task)))

    async def _verify(self, asked: arguments.Nothing, call: Call) -> answers.Verified:
        del asked, call
        found = await asyncio.to_thread(lambda: self._swarm().verify())
        lines = tuple(
            answers.CheckLine(name=each.name, looked_at=each.looked_at, problems=each.problems, warnings=each.warnings)
            for each in found
        )
        return answers.Verified(passed=all(each.passed for each in found), checks=lines)

    async def _cost(self, asked: arguments.Nothing, call: Call) -> CostReport:
        del asked, call
        return await asyncio.to_thread(lambda: self._swarm().cost())

    # --- councils ---

    async def _debate(self, asked: arguments.Debate, call: Call) -> answers.Debated:
        council = self._swarm(call).council
        outcome = await council.debate(asked.question, **_given(asked, "question"))
        told, _ = await asyncio.to_thread(council.debate_verdict, outcome.id)
        return answers.Debated(outcome=outcome, reasons=tuple(told["reasons"]), dissent=tuple(told["dissent"]))

    async def _discuss(self, asked: arguments.Discuss, call: Call) -> answers.Discussed:
        record = await self._swarm(call).council.discuss(asked.topic, **_given(asked, "topic"))
        same = {name: getattr(record, name) for name in answers.Discussed.model_fields if name != "id"}
        return answers.Discussed(id=record.discussion.id, **same)

    async def _decide(self, asked: arguments.Decide, call: Call) -> answers.Decided:
        outcome = await self._swarm(call).council.decide(asked.question, **_given(asked, "question"))
        return answers.Decided(outcome=outcome)

    # --- the loop ---

    async def _plan(self, asked: arguments.Plan, call: Call) -> answers.Worked:
        swarm = self._swarm(call)
        outcome = await swarm.plan(asked.goal.strip(), spec=asked.spec, answers=asked.answers)
        while said := await person.answered(call.ask, outcome):
            outcome = await swarm.plan(answers=said)
        return await person.settled(call.ask, outcome, self._approving(outcome.seq), self._read_plan)

    async def _run(self, asked: arguments.Run, call: Call) -> answers.Worked:
        swarm = self._swarm(call)
        ends = asyncio.get_running_loop().call_later(asked.seconds, swarm.interrupt) if asked.seconds else None
        try:
            outcome = await swarm.run(attended=call.ask is not None)
            while said := await person.answered(call.ask, outcome):
                for number, text in said.items():
                    await asyncio.to_thread(swarm.answer, number, text)
                outcome = await swarm.run(attended=True)
        finally:
            if ends is not None:
                ends.cancel()
        return await person.settled(call.ask, outcome, self._approving(outcome.seq), self._read_plan)

    # --- inside ---

    def _swarm(self, call: Call | None = None) -> Swarm:
        """The facade, its settings read anew."""
        return Swarm(self._start, listener=call.listener if call else silent, environ=self._environ)

    def _approving(self, seq: int) -> Swarm:
        """The facade with which the person decides: about what stood at that ledger position, and nothing newer."""
        return Swarm(self._start, environ=self._environ, expect=seq)

    def _read_plan(self) -> Document:
        ledger = self._swarm().project.ledger()
        if ledger.state.plan is None:
            raise UsageError("There is no plan yet.", hint='Make one with the tool `plan`, or: swarm plan "GOAL"')
        text, _ = ledger.projector.plan_texts(ledger.state)
        return Document("plan.md", "text/markdown", text)

    def _read_entry(self, seq: int) -> Document:
        entries = (entry for entry, _ in self._swarm().project.ledger().entries())
        found = next((each for each in entries if each.seq == seq), None)
        if found is None:
            raise UsageError(f"The ledger has no line {seq}.", hint="The tool `history` lists those that it has.")
        return _json(str(seq), found.model_dump(mode="json"))

    def _read_evidence(self, task: str, attempt: int, name: str) -> Document:
        from swarmgate.domain.evidence.report import Standing
        from swarmgate.engine.reports.goal import read_goal
        from swarmgate.ledger.evidence.archive import read_plain
        from swarmgate.ledger.evidence.evidence import EvidenceStore

        project = self._swarm().project
        recorded = [each for each in read_goal(project).evidence if (each.task, each.attempt) == (task, attempt)]
        if not recorded:
            raise UsageError(
                f"The ledger has no evidence of attempt {attempt} of task {task!r}.",
                hint="The tool `show` tells which attempts a task has.",
            )
        if not name:
            return _json(f"{task}/{attempt}", [each.model_dump(mode="json") for each in recorded])
        found = next((each for each in recorded if each.file == name), None)
        if found is None or found.standing is not Standing.PRESENT:
            raise UsageError(
                f"There is no file {name!r} in that evidence.",
                hint=f"It has: {', '.join(each.file for each in recorded)}",
            )
        place = EvidenceStore(project.folder).place(task, attempt, name)
        text = read_plain(place).decode("utf-8", "replace")
        return Document(name, _TYPES.get(place.suffix, "text/plain"), text)


def _require_none(goal: str) -> None:
    if goal:
        raise UsageError("Goals with ids are those of a team server; this is one project.", hint="Leave it out.")


def _json(name: str, value: Any) -> Document:
    return Document(name, "application/json", json.dumps(value, indent=2, ensure_ascii=False))


def _given(asked: Frozen, *without: str) -> dict[str, Any]:
    """The arguments that were given, but those; what was not is as the settings say."""
    return asked.model_dump(exclude={*without, "after"}, exclude_defaults=True)
