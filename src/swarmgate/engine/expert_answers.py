"""Answers `ask_sme` in a run: from the guidance in context.md first, then from the model of the role `sme`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from swarmgate.agents.ask_expert import Expert, ExpertAnswer
from swarmgate.agents.context import AgentContext
from swarmgate.agents.roles import sme
from swarmgate.config import Config
from swarmgate.domain.events.event import GuidanceGiven
from swarmgate.domain.next_step import worked_on
from swarmgate.domain.state.state import Guidance
from swarmgate.ledger.context import guidance
from swarmgate.ledger.ledger import Ledger


class KeptAnswers:
    """What experts answered, in context.md; each new answer is reported as an event too.

    Args:
        ledger: of the project; its state says for which task and phase is asked.
        report: takes the event.
        now: the time of an answer.
    """

    def __init__(
        self,
        ledger: Ledger,
        report: Callable[[GuidanceGiven], None],
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._ledger = ledger
        self._report = report
        self._now = now

    def find(self, domain: str, question: str) -> Guidance | None:
        """The answer to this question, or to one that is the same in other words. The file is read each time."""
        return guidance.find(guidance.read(self._ledger.folder.context), domain, question)

    def keep(self, domain: str, question: str, answer: str, *, model: str) -> None:
        """Write an answer into context.md, with date, task and phase."""
        task, phase = self.place
        date = f"{self._now():%Y-%m-%d}"
        guidance.append(self._ledger.folder.context, Guidance(domain, question, answer, phase, task, date))
        self._report(
            GuidanceGiven(domain=domain, question=question, answer=answer, phase=phase, task=task, model=model)
        )

    @property
    def place(self) -> tuple[str, int]:
        """The task that is worked on, empty outside of tasks, and the phase, 0 without a plan."""
        state = self._ledger.state
        task = worked_on(state)
        phases = state.plan.phase_numbers if state.plan else {}
        return task, phases.get(task) or min(state.current_phase, len(state.plan.phases) if state.plan else 0)


def expert(
    config: Config, ledger: Ledger, agent: Callable[[str], AgentContext], report: Callable[[GuidanceGiven], None]
) -> Expert:
    """The expert of a run. Its model is connected with the first question that context.md does not answer."""
    answers = KeptAnswers(ledger, report)

    async def ask(domain: str, question: str) -> ExpertAnswer:
        task, phase = answers.place
        return await sme.consult(agent(sme.ROLE), domain=domain, question=question, task=task, phase=phase)

    return Expert(answers, ask if sme.ROLE in config.speaking else None)
