"""Brings the guidance in context.md to agents: standing guidance into briefs, answers to those who ask an expert.

`ask_sme` is answered from context.md first, then by the model of the role `sme`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from swarmgate.agents.ask_expert import Expert, ExpertAnswer
from swarmgate.agents.briefs.brief import Brief, Section
from swarmgate.agents.briefs.prior_knowledge import standing
from swarmgate.agents.context import AgentContext
from swarmgate.agents.roles import sme
from swarmgate.config import Config
from swarmgate.domain.events.event import GuidanceGiven
from swarmgate.domain.next_step import worked_on
from swarmgate.domain.state.state import Guidance
from swarmgate.ledger.context import guidance
from swarmgate.ledger.ledger import Ledger

_SECURITY = "security"
"""What a security review is about, whatever the task says."""


def standing_guidance(ledger: Ledger, brief: Brief) -> tuple[Section, ...]:
    """The facts of context.md that hold for what a brief is about, as its section; none where there are none.

    A question to an expert is about its domain, another brief about its task and the name of its phase, and one that
    has no task about the goal and all of the plan.

    Raises:
        UsageError: context.md cannot be read.
    """
    state, phase = ledger.state, brief.phase
    if brief.domain:
        about, phase = (brief.domain, *(each.text for each in brief.sections)), 0
    elif state.plan and brief.task in state.plan.tasks:
        phase = state.plan.phase_numbers[brief.task]
        about = (state.plan.phase(phase).name, state.plan.tasks[brief.task].text)
    else:
        about = (state.goal, state.spec, *(each.text for each in (state.plan.tasks.values() if state.plan else ())))
    special = _SECURITY if brief.step == "security_review" else ""
    entries, _ = guidance.bounded(guidance.read(ledger.folder.context))
    found = guidance.applying(entries, task=brief.task, phase=phase, text="\n".join((*about, special)))
    return standing(guidance.facts(found))


class KeptAnswers:
    """What experts answered, in context.md; each new answer is reported as an event too.

    Args:
        ledger: of the project; its state says for which task and phase is asked.
        report: takes the event.
        now: the time of an answer.
        asked: whether an expert answers what is not found.
    """

    def __init__(
        self,
        ledger: Ledger,
        report: Callable[[GuidanceGiven], None],
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        asked: bool = True,
    ) -> None:
        self._ledger = ledger
        self._report = report
        self._now = now
        self._asked = asked

    def find(self, domain: str, question: str) -> Guidance | None:
        """The answer to this question, or to one that is the same in other words. The file is read each time.

        Where there is no expert to ask, the facts that stand for what is asked are all there is to say.
        """
        entries = guidance.read(self._ledger.folder.context)
        found = guidance.find(entries, domain, question)
        if found or self._asked:
            return found
        facts = guidance.facts(
            guidance.applying(guidance.bounded(entries)[0], task="", phase=0, text=f"{domain}\n{question}")
        )
        return Guidance(domain, "", facts, 0, "", "") if facts else None

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
    asked = sme.ROLE in config.speaking
    answers = KeptAnswers(ledger, report, asked=asked)

    async def ask(domain: str, question: str) -> ExpertAnswer:
        task, phase = answers.place
        return await sme.consult(agent(sme.ROLE), domain=domain, question=question, task=task, phase=phase)

    return Expert(answers, ask if asked else None)
