"""The preflight check that every dependency of a phase's tasks is complete, skipped, or in the same phase."""

from __future__ import annotations

from collections.abc import Mapping

from swarmgate.automation.preflight.context import CheckResult, PreflightContext, few


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
