"""Explains who has to act next, and which command to type: every waiting state has a remedy here."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args

from swarmgate.domain.base import Frozen
from swarmgate.domain.events.event import PauseReason, PhaseStage
from swarmgate.domain.next_step import Waiting, blocked_task, open_questions, question_at_work, waiting_for, worked_on
from swarmgate.domain.review.votes import in_words
from swarmgate.domain.spending.budget import accounts
from swarmgate.domain.state.phase_verdict import judged_stage
from swarmgate.domain.state.state import PhaseRecord, State
from swarmgate.domain.task.remedies import of_model, override_line, settings_for
from swarmgate.engine.reports.checkpoint import Checkpoint, checkpoint
from swarmgate.ledger.views.describe import finding_lines, verdict_in_words

_ANOTHER = "another model in [roles.architect]; `swarm doctor --models` says what each can do"
"""What helps where the architect gave no plan that can be used: the model failed, whatever the goal says."""


class AskedQuestion(Frozen):
    """The question of an agent at work on a task, with what is to be known to answer it."""

    number: int
    text: str
    task: str
    attempt: int
    role: str
    options: tuple[str, ...] = ()
    why: str = ""
    assumption: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """The question as people read it."""
        return (
            f"Question {self.number}, of the {self.role} about task {self.task}:",
            *(f"  {line}" for line in self.text.splitlines()),
            *(f"    {number}. {option}" for number, option in enumerate(self.options, start=1)),
            *([f"  why:      {' '.join(self.why.split())}"] if self.why else []),
            *([f"  else:     {' '.join(self.assumption.split())}"] if self.assumption else []),
        )


class RunOutcome(Frozen):
    """The outcome of a run: what it waits for the user for, at ledger position `seq`, and the possible commands.

    `task` is the blocked task; `questions` are the open ones with their numbers, `asked` is that of an agent at
    work; `reason` says why in one line, also why only the user can approve what the settings would; `checkpoint` is
    the phase that waits for approval. `judge` is who still objects to the plan. `verdicts` are those on a whole
    phase, each with its findings. `unseen` are the phases of the plan that were approved without a person.
    """

    waiting: Waiting
    seq: int
    phase: int = 0
    task: str = ""
    reason: str = ""
    questions: tuple[tuple[int, str], ...] = ()
    asked: AskedQuestion | None = None
    objections: tuple[str, ...] = ()
    judge: str = "critic"
    verdicts: tuple[str, ...] = ()
    checkpoint: Checkpoint | None = None
    unseen: tuple[int, ...] = ()
    actions: tuple[str, ...] = ()


EXIT_CODES: dict[Waiting, int] = {
    Waiting.NOTHING: 0,
    Waiting.GOAL: 2,
    Waiting.BLOCKED_TASK: 1,
    Waiting.PLANNING_FAILED: 1,
    Waiting.PHASE_REJECTED: 1,
    Waiting.ANSWERS: 3,
    Waiting.PLAN_APPROVAL: 3,
    Waiting.PHASE_APPROVAL: 3,
}
"""The exit code of a command that ends waiting (DESIGN.md, "Command line")."""


def outcome_of(state: State) -> RunOutcome:
    """The outcome of a run that ended at this state, which waits for the user."""
    waiting = waiting_for(state)
    if waiting is None:
        raise ValueError("the engine still has something to do")
    blocked = blocked_task(state) if waiting is Waiting.BLOCKED_TASK else None
    reason = state.task(blocked.id).reason if blocked else " ".join(state.planning_problems)
    stage = judged_stage(state) if waiting is Waiting.PHASE_REJECTED else None
    if stage is not None:
        reason = f"{stage}: {in_words(state.phase(state.current_phase).tally(stage))}"
    return RunOutcome(
        waiting=waiting,
        seq=state.seq,
        phase=state.current_phase,
        task=blocked.id if blocked else "",
        reason=reason,
        questions=tuple((question.number, question.text) for question in open_questions(state)),
        asked=asked_about_task(state),
        objections=_objections(state) if waiting in (Waiting.PLAN_APPROVAL, Waiting.PLANNING_FAILED) else (),
        judge="debate" if state.plan_reviews and state.plan_reviews[-1].debate else "critic",
        verdicts=verdicts(state) if waiting in (Waiting.PHASE_REJECTED, Waiting.PHASE_APPROVAL) else (),
        checkpoint=checkpoint(state) if waiting is Waiting.PHASE_APPROVAL else None,
        unseen=tuple(number for number, record in sorted(state.phases.items()) if record.approved_by),
        actions=actions(state, waiting),
    )


def actions(state: State, waiting: Waiting | None) -> tuple[str, ...]:
    """The commands that lead on from here, each with what it does."""
    match waiting:
        case None:
            return (
                *_past_budgets(state),
                *_past_preflight(state),
                *_past_limit(state),
                "swarm run: go on with the work",
            )
        case Waiting.GOAL:
            return ('swarm plan "GOAL": say what is wanted',)
        case Waiting.ANSWERS:
            return _answers(state)
        case Waiting.PLAN_APPROVAL:
            return (
                "swarm approve: approve the plan",
                'swarm revise "...": have it changed',
                "edit .swarm/plan.md: change it yourself",
            )
        case Waiting.PLANNING_FAILED:
            keep = ("swarm approve: keep the plan as it was",) if state.plan else ()
            again = 'swarm revise "..."' if state.plan else 'swarm plan "GOAL"'
            helps = of_model(" ".join(state.planning_problems), "architect") or _ANOTHER
            return (f"{again}: try again, with {helps}", *keep)
        case Waiting.PHASE_REJECTED:
            number = state.current_phase
            return (
                *_past_silence(state),
                'swarm revise "...": have the plan changed; the architect is told the findings',
                "edit .swarm/plan.md: change the plan yourself",
                f'swarm retry {number} --note "...": have phase {number} judged anew, such as after a commit of yours',
                f'swarm override {number} --reason "...": go on in spite of it',
            )
        case Waiting.PHASE_APPROVAL:
            return (
                f"swarm approve: approve phase {state.current_phase}, then swarm run",
                'swarm revise "...": have the plan changed',
                "edit .swarm/plan.md: change the plan yourself",
            )
        case Waiting.BLOCKED_TASK:
            return _ways_out(state)
        case Waiting.NOTHING:
            merge = f"git switch {state.base_branch} && git merge {state.branch}: take the work over"
            return (*([merge] if state.base_branch and state.branch else []), 'swarm plan "GOAL": begin something new')


def asked_about_task(state: State) -> AskedQuestion | None:
    """What an agent asks in the middle of a task; None where it waits for no answer."""
    if waiting_for(state) is not Waiting.ANSWERS or (asked := question_at_work(state)) is None:
        return None
    return AskedQuestion(**{name: getattr(asked, name) for name in AskedQuestion.model_fields})


def _answers(state: State) -> tuple[str, ...]:
    """The ways to answer what is asked."""
    asked = asked_about_task(state)
    if asked is None:
        numbers = (question.number for question in open_questions(state))
        return tuple(f'swarm plan --answer {number}="...": answer question {number}' for number in numbers)
    options = enumerate(asked.options, start=1)
    return (
        f'swarm answer {asked.number} "...": answer it, then swarm run',
        *(f"swarm answer {asked.number} --option {number}: {option}" for number, option in options),
        f"swarm answer {asked.number} --decline: leave it to the {asked.role}, as under `else`",
    )


def _past_silence(state: State) -> tuple[str, ...]:
    """What helps where a reviewer of the phase gave no verdict that can be read: that is of the model, not the work."""
    stage, number = judged_stage(state), state.current_phase
    if stage is None or not state.phase(number).tally(stage).failed:
        return ()
    where = "[roles.critic]" if stage == "gate" else "[roles.reviewer], or `models` in [phase]"
    return (f"another model in {where}, since one gave no verdict, then: swarm retry {number}",)


def _past_budgets(state: State) -> tuple[str, ...]:
    """What comes before the next run where a budget is used up; that of a run begins anew with it."""
    found: list[str] = []
    for account in accounts(state, worked_on(state)) if state.pause else ():
        used_up = [measure for measure in account.measures() if measure.used_up and account.owner.kind != "run"]
        found += [f"raise `{each.key}` in [{account.section}]: {each.text} is used up" for each in used_up]
        if used_up and account.owner.kind == "task":
            task = account.owner.name
            found += [
                f"swarm retry {task}: grant the task its budget again and start it over, with a new attempt",
                f'swarm skip {task} --reason "...": give the task up',
            ]
    return tuple(found)


def _past_preflight(state: State) -> tuple[str, ...]:
    """What comes before the next run where the checks before a phase stopped the last one."""
    if state.pause is None or state.pause.reason is not PauseReason.PREFLIGHT:
        return ()
    return (
        f"swarm preflight: see what stops phase {state.current_phase}, and mend that",
        "swarm automation off phase_preflight: begin phases without such a look",
    )


def _past_limit(state: State) -> tuple[str, ...]:
    """How the work goes on where the limit of a model paused it, which has an end."""
    if state.pause is None or not state.pause.until:
        return ()
    end = datetime.fromisoformat(state.pause.until).astimezone()
    if end <= datetime.now(UTC):
        return ()
    return (f"swarm run --wait: wait until the limit ends, on {end:%a %d %b at %H:%M:%S}, and go on",)


def _ways_out(state: State) -> tuple[str, ...]:
    task = blocked_task(state)
    if task is None:
        return ()
    record = state.task(task.id)
    block = record.block
    found = list(settings_for(task.id, block.stage, block.reason)) if block else []
    if record.last and not (block and record.last.stage == block.stage):
        found += settings_for(task.id, record.last.stage, record.last.reason)
    override = override_line(task.id, record)
    return (
        f'swarm retry {task.id} --note "...": try again, with a hint',
        'swarm revise "...": change the plan',
        *dict.fromkeys(found),
        *([override] if override else ()),
        f'swarm skip {task.id} --reason "...": give the task up',
    )


def verdicts(state: State) -> tuple[str, ...]:
    """The verdicts on the current phase as a whole, each with its findings, and what the user overruled of them."""
    record, found = state.phase(state.current_phase), list[str]()
    for event in (each for stage in get_args(PhaseStage) for each in record.verdicts(stage)):
        found.append(verdict_in_words(event))
        found += [f"  {text}" for text in finding_lines(event.review)]
    return (*found, *overruled_lines(record))


def overruled_lines(record: PhaseRecord) -> tuple[str, ...]:
    """Why the user goes on in spite of reviewers who rejected a phase: `you overruled the gate: I can tell`."""
    return tuple(f"you overruled the {stage}: {why}" for stage, why in sorted(record.overruled.items()))


def _objections(state: State) -> tuple[str, ...]:
    last = state.plan_reviews[-1] if state.plan_reviews else None
    if last is None or last.approved:
        return ()
    return (last.summary, *(finding.message for finding in last.findings))
