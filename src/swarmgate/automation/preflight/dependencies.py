"""The preflight checks of a phase's tasks: dependencies are done, files are there, criteria say something."""

from __future__ import annotations

import re
from collections.abc import Mapping

from swarmgate.automation.preflight.context import CheckResult, PreflightContext, few
from swarmgate.domain.plan.plan import Kind


def inspect(context: PreflightContext) -> Mapping[str, CheckResult]:
    """`dependencies`."""
    state, plan = context.state, context.state.plan
    if plan is None:
        return {"dependencies": CheckResult("there is no plan", problem="there is no plan", hint='swarm plan "..."')}
    tasks = plan.phase(context.phase).tasks
    own, still = {task.id for task in tasks}, [task for task in tasks if not state.task(task.id).settled]
    number = f"{len(tasks)} task{'s' * (len(tasks) != 1)}, {len(still)} open"
    needed = {other: task.id for task in still for other in task.depends}
    outside = [other for other in needed if other not in own]
    open_ones = [other for other in outside if not state.task(other).settled]
    if open_ones:
        descriptions = [f"{other} ({state.task(other).status}), needed by {needed[other]}" for other in open_ones]
        hint = "Finish them, or give them up: swarm skip TASK"
        return {"dependencies": CheckResult(number, f"not done yet: {few(descriptions)}", hint)}
    met = f"what they need of other phases is done: {few(outside)}" if outside else "they need nothing of other phases"
    return {"dependencies": CheckResult(f"{number}; {met}" if still else number)}


def inspect_tasks(context: PreflightContext) -> Mapping[str, CheckResult]:
    """`buildable` and `testable`: the questions before a phase (`[phase] gate`), as far as a program can answer them.

    Whoever changes what is there needs a file that is there, or that another task makes. A criterion that only repeats
    the title of its task names nothing that a test could see.
    """
    state, plan, repository = context.state, context.state.plan, context.fresh()
    if plan is None:
        return dict.fromkeys(("buildable", "testable"), CheckResult("there is no plan", skipped=True))
    tasks = [task for task in plan.phase(context.phase).tasks if not state.task(task.id).settled]
    there = set(repository.list_tree(repository.snapshot()))
    made = {path: task.id for task in reversed(list(plan.tasks.values())) for path in task.files}
    missing = [
        f"{task.id} is {task.kind}, and none of its files is there: {few(task.files)}"
        for task in tasks
        if task.kind in (Kind.REFACTORING, Kind.BREAKING)
        and not any(path in there or made[path] != task.id for path in task.files)
    ]
    empty = [task.id for task in tasks if any(_words(each) == _words(task.title) for each in task.acceptance)]
    number = f"{len(tasks)} open task{'s' * (len(tasks) != 1)}"
    hint = 'Say what is meant: swarm revise "...", or edit .swarm/plan.md'
    said = f"a criterion only repeats the title, so no test can tell whether it is met: {few(empty)}" if empty else ""
    return {
        "buildable": CheckResult(number, "; ".join(missing), hint),
        "testable": CheckResult(number, said, hint, blocks=False),
    }


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
