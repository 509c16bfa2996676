"""The report of `swarm failures`: recurring rejections over all goals, runs and tasks, and their likely causes.

The ledger's entries are read, not the state: it forgets the tasks of earlier goals. The same failure in three tasks is
seldom the fault of three tasks; who rejected, and what became of the tasks, says where its cause may lie.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from swarmgate.domain.base import Frozen
from swarmgate.domain.events import event as ev
from swarmgate.domain.plan.plan import Plan, Task
from swarmgate.domain.review.evidence import telling
from swarmgate.domain.review.stage import Judge, Stage, stopped_role
from swarmgate.domain.task.failure_patterns import TESTS
from swarmgate.domain.text.same_message import masked, normalised, steady

COMMON = 3
"""As many tasks with the same failure point at a cause outside of them (issue 4, item 7)."""
_RULE = re.compile(r"^\[([^\]\s]+)\] ")
_PLACE = re.compile(r"^\S+ (\S+): ")
_NAMED = r"(?![\w.$]*Assertion)(?:Failed|[\w.$]*(?:Error|Exception|Exit|Expired|Interrupt|Iteration|Warning))\b"
# pytest says what went wrong in lines of its own and in its summary; what it prints beside them is source text.
_PYTEST = re.compile(r"^E\s+(.*)|^(?:FAILED|ERROR) \S+ - (.*)", re.MULTILINE)
_RAISED = re.compile(_NAMED + r"(?:: .*)?$")
_ERROR = re.compile(
    rf"^[ \t]*(?:Uncaught |Caused by: )?(?P<named>{_NAMED}(?:: .*)?)$|\berror(?:\[\w+\]|:).*|\bpanicked at\b.*",
    re.MULTILINE,
)
_COUNTS = re.compile(r"\b\d+ of \d+ (?=tests? failed)")


class FailureGroup(Frozen):
    """Rejections of one stage whose messages differ in names and numbers only.

    `rule` is the gate's rule, empty for others. `tasks` of earlier goals carry their goal's number; a phase that was
    rejected as a whole stands there as `phase 2`, its stage is `gate` or `validation`. `cause` is what the failure
    points at when it stands in three tasks: `gate`, `prompt`, `plan`, `model`, `tests` or `hook`; `advice` says why,
    `sources` where to look, in words, commands and paths.
    """

    stage: Stage
    rule: str = ""
    message: str
    count: int
    tasks: tuple[str, ...]
    runs: tuple[int, ...]
    texts: tuple[str, ...]
    cause: str = ""
    advice: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failure:
    """One rejection, or a block that is not the repetition of one."""

    goal: int
    run: int
    phase: int
    task: Task | None
    """None: the phase as a whole."""
    stage: Stage
    text: str
    rule: str = ""

    @property
    def place(self) -> str:
        """What was rejected: the id of the task, or `phase 2`."""
        return self.task.id if self.task else f"phase {self.phase}"

    @property
    def key(self) -> tuple[str, str, str]:
        """The key that equal failures share."""
        if self.rule:
            return "gates", self.rule, masked(_RULE.sub("", self.text))
        message = steady(_COUNTS.sub("", self.text)) if self.stage.judge in TESTS else normalised(self.text)
        return self.stage, "", message


@dataclass
class _Story:
    """What the entries tell, in order: where the work stood at each failure, and how it ended for the task."""

    goal: int = 0
    run: int = 0
    plan: Plan | None = None
    found: list[Failure] = field(default_factory=list)
    last: dict[str, Stage] = field(default_factory=dict)
    mended: set[tuple[int, str]] = field(default_factory=set)
    overruled: set[tuple[int, str, Stage]] = field(default_factory=set)

    def add(self, event: ev.Event) -> None:
        match event:
            case ev.GoalSet():
                self.goal, self.plan, self.last = self.goal + 1, None, {}
            case ev.RunStarted():
                self.run += 1
            case ev.PlanSaved() | ev.PlanAmended():
                self.plan = event.plan
            case ev.AttemptRejected():
                self.last[event.task] = event.stage
                self._failed(event.task, event.stage, *_texts(event))
            case ev.TaskBlocked() if self.last.get(event.task) != event.stage:
                self._failed(event.task, event.stage, ("", event.reason))
            case ev.PhaseReviewed() if not event.review.approved:
                texts = [each.message for each in event.review.findings] or [event.review.summary]
                self._add(event.phase, None, Stage(event.stage), *(("", text) for text in texts))
            case ev.TaskCompleted():
                self.mended.add((self.goal, event.task))
            case ev.RejectionOverridden():
                self.overruled.add((self.goal, event.task, event.stage))

    def _failed(self, task_id: str, stage: Stage, *texts: tuple[str, str]) -> None:
        if self.plan is None or task_id not in self.plan.tasks:
            return
        self._add(self.plan.phase_numbers[task_id], self.plan.tasks[task_id], stage, *texts)

    def _add(self, phase: int, task: Task | None, stage: Stage, *texts: tuple[str, str]) -> None:
        self.found += [Failure(self.goal, self.run, phase, task, stage, text, rule) for rule, text in texts]

    def met(self, failure: Failure) -> bool:
        """Whether the task was completed without overruling who rejected it."""
        place = (failure.goal, failure.place)
        return place in self.mended and (*place, failure.stage) not in self.overruled


def _texts(event: ev.AttemptRejected) -> list[tuple[str, str]]:
    """What a rejection counts as, rule and text: once for each of a gate's gravest rules, else once for its reason."""
    if event.stage.judge is Judge.GATES:
        by_rule: dict[str, str] = {}
        remarks = telling(event.stage, event.feedback)
        worst = max((remark.severity.rank for remark in remarks), default=0)
        for remark in remarks:
            if remark.severity.rank == worst and (match := _RULE.match(remark.message)):
                by_rule.setdefault(match[1], remark.message)
        place = _PLACE.match(event.reason)
        return list(by_rule.items()) or [(place[1] if place else "", event.reason)]
    if event.stage.judge in TESTS:
        output = "\n".join(remark.message for remark in event.feedback)
        error = _error(output)
        return [("", normalised(error) if error else event.reason)]
    return [("", event.reason)]


def _error(output: str) -> str:
    """The first error that a run of tests names, without source text; empty for plain assertions."""
    if messages := [match[1] or match[2] or "" for match in _PYTEST.finditer(output)]:
        return next((match[0] for line in messages if (match := _RAISED.match(line.strip()))), "")
    match = _ERROR.search(output)
    return (match["named"] or match[0]) if match else ""


def failure_groups(entries: Iterable[ev.Entry], *, prompt: Callable[[str], str]) -> tuple[FailureGroup, ...]:
    """Every rejection of the ledger in groups, that of the most tasks first.

    Args:
        entries: the whole ledger.
        prompt: the path of a role's prompt, as the user is told it.
    """
    story = _Story()
    for entry in entries:
        story.add(entry.event)
    groups: dict[tuple[str, str, str], list[Failure]] = defaultdict(list)
    for failure in story.found:
        groups[failure.key].append(failure)
    found = [_group(key, members, story, prompt) for key, members in groups.items()]
    return tuple(sorted(found, key=lambda group: (-len(group.tasks), -group.count, group.stage, group.rule)))


def _group(
    key: tuple[str, str, str], members: Sequence[Failure], story: _Story, prompt: Callable[[str], str]
) -> FailureGroup:
    _, rule, message = key
    tasks = tuple(
        dict.fromkeys(each.place + ("" if each.goal == story.goal else f" of goal {each.goal}") for each in members)
    )
    stage = min((each.stage for each in members), key=len)
    pointed = _pointed(stage, rule, members, story, prompt) if len(tasks) >= COMMON and members[0].task else _NOWHERE
    return FailureGroup(
        stage=stage,
        rule=rule,
        message=message,
        count=len(members),
        tasks=tasks,
        runs=tuple(dict.fromkeys(each.run for each in members)),
        texts=tuple(dict.fromkeys(each.text for each in members)),
        cause=pointed.cause,
        advice=f"The same failure in {len(tasks)} tasks points at {pointed.why}." if pointed.why else "",
        sources=pointed.sources,
    )


@dataclass(frozen=True)
class _Pointed:
    cause: str = ""
    why: str = ""
    sources: tuple[str, ...] = ()


_NOWHERE = _Pointed()


_OF_THE_PLAN = {
    Judge.SCOPE: "the plan: its tasks list too few files, or cut across the code",
    Judge.OLD_TESTS: "the plan: its tasks change what tests expect, and do not say so",
}


def _pointed(
    stage: Stage, rule: str, members: Sequence[Failure], story: _Story, prompt: Callable[[str], str]
) -> _Pointed:
    """What a common failure points at, and why."""
    wording = _wording(members)
    coder = f"the coder's prompt: {prompt('coder')}"
    match judge := stage.judge:
        case Judge.GATES:
            return _of_gate(stage, rule, members, story, coder)
        case Judge.TESTS:
            why = "what all tests need, not at the tasks: the test command, what is installed, or code that they share"
            return _Pointed("tests", why, ("[tests] command in .swarm/config.toml", *_evidence(members, "tests.json")))
        case Judge.SWITCHED_OFF:
            why = "the coder's prompt: changes take tests away, or keep them from the runner"
            return _Pointed("prompt", why, (coder, *_evidence(members, "tests-base.json")))
        case Judge.PROVES_NOTHING | Judge.UNPROVEN | Judge.MUTATION:
            why = "the test engineer's prompt: its tests do not notice what the change does"
            return _Pointed("prompt", why, (f"the test engineer's prompt: {prompt('test_engineer')}",))
        case Judge.BREAKER:
            role = stopped_role(members[0].text)
            why = f"the model of the {role} or the size of the tasks: its turns do not come to an end"
            return _Pointed("model", why, (f"[roles.{role}] and [breakers] in .swarm/config.toml", *wording))
        case Judge.CODER | Judge.ARCHITECT:
            why = f"the model of the {judge}: it does not answer in the form that is asked for"
            return _Pointed("model", why, (f"[roles.{judge}] in .swarm/config.toml", f"its prompt: {prompt(judge)}"))
        case Judge.COMMIT:
            return _Pointed("hook", "a hook of the repository that refuses the commits", (".git/hooks/",))
        case Judge.SCOPE | Judge.OLD_TESTS:
            files = tuple(
                f"task {each.task.id} lists: {', '.join(each.task.files)}" for each in _one_a_task(members) if each.task
            )
            return _Pointed("plan", _OF_THE_PLAN[judge], files)
        case Judge.TRAJECTORY:
            return _Pointed("plan", "the plan: its tasks are too big, or ask for what contradicts itself", wording)
        case _:
            return _of_judge(judge, members, wording, prompt)


def _of_gate(stage: Stage, rule: str, members: Sequence[Failure], story: _Story, coder: str) -> _Pointed:
    name = rule or next(iter(stage.names), "")
    explain = f"swarm gates explain {name}"
    tasks = _one_a_task(members)
    met = sum(story.met(each) for each in tasks)
    if 2 * met >= len(tasks):
        why = f"the coder's prompt: {met} of {len(tasks)} tasks met {name} in the end, so it can be said at once"
        return _Pointed("prompt", why, (coder, explain))
    why = f"the gate: only {met} of {len(tasks)} tasks met {name} in the end, so it may not fit this project"
    return _Pointed("gate", why, (explain, ".swarm/gates/ for a definition of your own, [gates] in .swarm/config.toml"))


def _of_judge(
    judge: Judge, members: Sequence[Failure], wording: tuple[str, ...], prompt: Callable[[str], str]
) -> _Pointed:
    places = {(each.goal, each.phase) for each in members}
    if len(places) == 1:
        phase = next(iter(places))[1]
        why = f"the plan: the tasks all stand in phase {phase}, and their criteria do not say it"
        return _Pointed("plan", why, (*wording, f"the coder's prompt: {prompt('coder')}"))
    role = "test_engineer" if judge is Judge.TEST_ENGINEER else "coder"
    why = f"the prompt of the {role.replace('_', ' ')}: it comes up in {len(places)} phases, so it is no matter of one"
    return _Pointed("prompt", why, (f"its prompt: {prompt(role)}", *wording))


def _wording(members: Sequence[Failure]) -> tuple[str, ...]:
    """What the plan says of these tasks."""
    return tuple(
        f"task {each.task.id} (phase {each.phase}) accepts: {'; '.join(each.task.acceptance)}"
        for each in _one_a_task(members)
        if each.task
    )


def _evidence(members: Sequence[Failure], name: str) -> tuple[str, ...]:
    return tuple(f".swarm/evidence/{each.place}/attempt-*/{name}" for each in _one_a_task(members))


def _one_a_task(members: Sequence[Failure]) -> list[Failure]:
    return list({(each.goal, each.place): each for each in members}.values())
