"""The architect role: plans, revises, delegates tasks, implements after too many rejections, closes phases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swarmgate.agents.briefs.brief import Brief, Section, answers_text, bullets, plan_json, plan_window, task_text
from swarmgate.agents.briefs.feedback import patterns_section, review_text, warning_section
from swarmgate.agents.briefs.prior_knowledge import NOTHING, Background
from swarmgate.agents.briefs.scope_files import SCOPE_NOTE, scope_text
from swarmgate.agents.context import AgentContext
from swarmgate.agents.conversation.toolbox import Toolbox, plain
from swarmgate.agents.conversation.turn import Refused, take_turn
from swarmgate.agents.roles.file_directive import named_files
from swarmgate.agents.roles.verdict import signed
from swarmgate.agents.tools import arguments as args
from swarmgate.domain.plan.plan import Plan, Task, path_problem, problems
from swarmgate.domain.review.evidence import Review
from swarmgate.domain.task.failure_patterns import Observation
from swarmgate.errors import UnsafePath
from swarmgate.workspace.file_tools.files import FileTree

ROLE = "architect"
_MENDING = "Plan tasks in that phase that mend it. Its finished tasks stay as they are; add new ones."
_PATTERN = re.compile(r"[*?]")
_ORIENTATION = "For orientation: every other task is somebody else's delegation."


@dataclass(frozen=True)
class Questions:
    """The questions that the user has to answer before a plan can be made."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Closing:
    """The summary of a phase, for the user who approves it and for the phases after it."""

    summary: str
    decisions: tuple[str, ...]
    lessons: tuple[str, ...]


async def plan(
    agent: AgentContext, *, goal: str, spec: str, answers: Sequence[tuple[str, str]], overview: str
) -> Plan | Questions:
    """Make a plan for the goal, or ask the user.

    Args:
        agent: the architect's context.
        goal: what the user wants.
        spec: the text of a specification file; may be empty.
        answers: earlier questions with the user's answers.
        overview: what the repository is: languages, test command, files.

    Raises:
        NoUsableReply: no legal plan within the bound; otherwise as `take_turn`.
    """
    sections = (
        Section("Goal", goal),
        Section("Specification", spec),
        Section("Answers of the user", answers_text(answers)),
        Section("The repository", overview),
    )
    brief = Brief(ROLE, "plan", goal=goal, sections=sections)
    return await _planned(agent, brief, problems)


async def revise(
    agent: AgentContext,
    *,
    goal: str,
    plan: Plan,
    status: str,
    request: str,
    objections: Review | None,
    phase_findings: str = "",
    answers: Sequence[tuple[str, str]],
    overview: str,
    check: Callable[[Plan], tuple[str, ...]],
) -> Plan | Questions:
    """Revise the plan after the critic's objections or at the user's request, or ask the user.

    Args:
        agent: the architect's context.
        goal: what the user wants.
        plan: the plan as it stands.
        status: which tasks are complete, skipped or running.
        request: what the user wants changed; may be empty.
        objections: the critic's verdict; None when it is not the reason.
        phase_findings: what reviewers of a phase object to; empty: nothing.
        answers: earlier questions with the user's answers.
        overview: what the repository is.
        check: every reason to refuse the new plan.

    Raises:
        NoUsableReply: no legal plan within the bound; otherwise as `take_turn`.
    """
    sections = (
        Section("Goal", goal),
        Section("What the user wants changed", request),
        Section("Objections of the critic", review_text(objections) if objections else ""),
        Section("What reviewers found in a phase as a whole", phase_findings, _MENDING),
        Section("The plan as it stands", plan_json(plan), "In the form that save_plan takes."),
        Section("Status of its tasks", status),
        Section("Answers of the user", answers_text(answers)),
        Section("The repository", overview),
    )
    return await _planned(agent, Brief(ROLE, "revise", goal=goal, sections=sections), check)


async def delegate(
    agent: AgentContext,
    *,
    task: Task,
    attempt: int,
    plan: Plan,
    feedback: str,
    others: Mapping[str, Task],
    observed: Sequence[Observation] = (),
    known: Background = NOTHING,
) -> Delegation:
    """Turn a task into a scope and instructions for the coder.

    Without `declare_scope` the files that the instructions name as `FILE: path` are the scope, else the task's.

    Args:
        agent: the architect's context.
        task: the one task to delegate.
        attempt: its number, from 1.
        plan: the plan that it belongs to.
        feedback: what earlier attempts were rejected for (`feedback_text`).
        others: the other open tasks by id; the delegation may not name them.
        observed: patterns that the attempts so far show.
        known: what the work before has taught.

    Raises:
        NoUsableReply: no acceptable delegation within the bound; otherwise as `take_turn`.
    """
    sections = (
        warning_section(observed),
        Section("The task to delegate", task_text(task)),
        *known.sections,
        Section("Its files", scope_text(agent.files, task.files, known.remarks), SCOPE_NOTE),
        Section("Earlier attempts", feedback),
        patterns_section(observed),
        Section("Where it stands in the plan", plan_window(plan, task), _ORIENTATION),
    )
    brief = Brief(
        ROLE,
        "delegate",
        task=task.id,
        attempt=attempt,
        files=task.files,
        sections=sections,
        remembered=known.remembered,
    )
    handing = _HandingOver(agent, task, others)
    work = {**Toolbox(agent).handlers, "declare_scope": handing.declare}
    return (await take_turn(agent, brief, work=work, endings={"delegate": handing.delegate})).value


async def weigh(
    agent: AgentContext, *, task: Task, attempt: int, scope: Sequence[str], over: str, patch: str
) -> Review:
    """Judge whether a change that is beyond the quality budget may stay. APPROVED: it may, for the reason given.

    Args:
        agent: the architect's context.
        task: the task that the change is for.
        attempt: its number, from 1.
        scope: the files that were declared for it.
        over: what the gate found.
        patch: the change as a diff.

    Raises:
        NoUsableReply: no verdict within the bound; otherwise as `take_turn`.
    """
    sections = (
        Section("The task", task_text(task)),
        Section("What is beyond the budget", over),
        Section("The change", patch),
    )
    brief = Brief(ROLE, "weigh", task=task.id, attempt=attempt, files=tuple(scope), sections=sections)

    def judge(call: args.SubmitVerdict) -> Review:
        if not call.summary.strip():
            raise Refused("A verdict on the budget needs its reason in `summary`: it goes on record.")
        return Review(verdict=call.verdict, summary=call.summary)

    work = Toolbox(agent).handlers
    return signed(await take_turn(agent, brief, work=work, endings={"submit_verdict": judge}))


async def implement(
    agent: AgentContext,
    *,
    task: Task,
    attempt: int,
    scope: Sequence[str],
    instructions: str,
    feedback: str,
    observed: Sequence[Observation] = (),
    known: Background = NOTHING,
) -> str:
    """Write the code itself, in an escalated attempt; returns the summary, which is a claim and no evidence.

    Raises:
        NoUsableReply: the turn did not end within the bound; otherwise as `take_turn`.
    """
    sections = (
        warning_section(observed),
        Section("The task", task_text(task)),
        Section("Why the attempts before were rejected", feedback),
        patterns_section(observed),
        Section("Instructions", instructions),
        *known.sections,
        Section("Declared scope", scope_text(agent.files, scope, known.remarks), SCOPE_NOTE),
    )
    brief = Brief(
        ROLE,
        "implement",
        task=task.id,
        attempt=attempt,
        files=tuple(scope),
        sections=sections,
        remembered=known.remembered,
    )
    work = Toolbox(agent, scope=scope).handlers
    return (await take_turn(agent, brief, work=work, endings={"finish": _summary})).value


async def close_phase(agent: AgentContext, *, phase: int, name: str, report: str) -> Closing:
    """Sum up a phase whose tasks are all done.

    Args:
        agent: the architect's context.
        phase: its number, from 1.
        name: its name.
        report: tasks, attempts and rejections of the phase.

    Raises:
        NoUsableReply: the turn did not end within the bound; otherwise as `take_turn`.
    """
    sections = (Section("The phase", f"Phase {phase}: {name}"), Section("What happened", report))
    brief = Brief(ROLE, "close_phase", phase=phase, sections=sections)
    return (await take_turn(agent, brief, work=Toolbox(agent).handlers, endings={"close_phase": _closing})).value


class _HandingOver:
    """The tools that make a delegation: they refuse scopes and instructions that reach beyond the task."""

    def __init__(self, agent: AgentContext, task: Task, others: Mapping[str, Task]) -> None:
        self._agent = agent
        self._task = task
        self._others = others
        self._declared = False
        self._scope: tuple[str, ...] = ()

    async def declare(self, call: args.DeclareScope) -> str:
        # Kept even when it is refused: a later `delegate` must not fall back on the task's files behind its back.
        self._scope = shortest(call.files)
        self._declared = True
        self._check()
        return f"The scope: {', '.join(self._scope)}."

    def delegate(self, call: args.Delegate) -> Delegation:
        if not self._declared:
            self._scope = shortest(named_files(call.instructions) or self._task.files)
        self._check(*instruction_problems(self._task, call.instructions, self._others))
        return Delegation(self._scope, call.instructions)

    def _check(self, *further: str) -> None:
        if found := (*scope_problems(self._task, self._scope, self._others, self._agent.files), *further):
            raise Refused("\n".join(found))


async def _planned(agent: AgentContext, brief: Brief, check: Callable[[Plan], tuple[str, ...]]) -> Plan | Questions:
    def save(call: args.SavePlan) -> Plan:
        draft = call.plan()
        if found := check(draft):
            raise Refused(
                "The plan is not saved:\n" + bullets(found) + "\nMend all of it and save the whole plan again."
            )
        return draft

    endings: dict[str, Callable[[Any], Plan | Questions]] = {"save_plan": save, "ask_user": _questions}
    return (await take_turn(agent, brief, work=Toolbox(agent).handlers, endings=endings)).value


def _questions(call: args.AskUser) -> Questions:
    texts = tuple(text.strip() for text in call.questions if text.strip())
    if not texts:
        raise Refused("ask_user needs at least one question. If nothing is open, save the plan.")
    return Questions(texts)


def _summary(call: args.Finish) -> str:
    return call.summary


def _closing(call: args.ClosePhase) -> Closing:
    if not call.summary.strip():
        raise Refused("close_phase needs a summary: the user approves the phase by it.")
    return Closing(call.summary, call.decisions, call.lessons)


@dataclass(frozen=True)
class Delegation:
    """The delegation of one task to the coder: the files that it may touch, and the instructions."""

    scope: tuple[str, ...]
    instructions: str


def shortest(files: Sequence[str]) -> tuple[str, ...]:
    """The paths in their shortest spelling, each once."""
    return tuple(dict.fromkeys(plain(path) if path.strip() else "" for path in files))


def scope_problems(task: Task, scope: Sequence[str], others: Mapping[str, Task], tree: FileTree) -> tuple[str, ...]:
    """Every reason to refuse the scope.

    Args:
        task: the task that is delegated.
        scope: the declared files, in their shortest spelling.
        others: the other open tasks by id.
        tree: tells where a path really leads.
    """
    if not scope:
        return (f"The scope is empty: declare the files of task {task.id}: {', '.join(task.files)}.",)
    owners = _owners(task, others)
    return tuple(problem for path in scope for problem in _path_problems(path, task, owners, tree))


def instruction_problems(task: Task, instructions: str, others: Mapping[str, Task]) -> tuple[str, ...]:
    """Every reason to refuse the instructions: empty, or naming another open task, or a file that only one has."""
    if not instructions.strip():
        return ("The instructions are empty: say what the coder has to do.",)
    one = f"One delegation is one task: speak of task {task.id} only."
    ids = (
        f"The instructions name {other}, the id of another open task. {one} (Is it a version number? Write v{other}.)"
        for other in others
        if other != task.id and _occurs_in(other, instructions)
    )
    files = (
        f"The instructions name {path}, which is a file of task {other} and not of task {task.id}. {one}"
        for path, other in _owners(task, others).items()
        if _occurs_in(path, instructions)
    )
    return (*ids, *files)


def _owners(task: Task, others: Mapping[str, Task]) -> dict[str, str]:
    """The files that only other open tasks list, each with the first such task."""
    own = set(shortest(task.files))
    owners: dict[str, str] = {}
    for other in others.values():
        for path in shortest(other.files):
            if path not in own and other.id != task.id:
                owners.setdefault(path, other.id)
    return owners


def _path_problems(path: str, task: Task, owners: Mapping[str, str], tree: FileTree) -> Iterator[str]:
    if problem := path_problem(path):
        yield f"The scope file {path!r} {problem}."
        return
    try:
        place = tree.resolve(path)
    except UnsafePath as error:
        yield f"The scope: {error.message}."
    else:
        if _PATTERN.search(path) and not place.exists():
            yield f"The scope file {path!r} is a pattern: name files with `declare_scope`, new ones as well."
    if path in owners:
        yield (
            f"The scope file {path} belongs to task {owners[path]}, which is open, and not to task {task.id}. "
            "One delegation is one task: leave it out."
        )


def _occurs_in(name: str, text: str) -> bool:
    """Whether an id or a path stands in the text as a word of its own: `1.3` not in `1.3.2`, `v1.3` or `11.3`."""
    return re.search(rf"(?<![\w./-])(?:\./)?{re.escape(name)}(?![\w/]|[.-]\w)", text) is not None
