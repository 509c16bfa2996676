"""The preflight check of resources: tool versions, reachable models, budget, free disk space."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Mapping, Sequence

from swarmgate.automation.preflight.context import CheckResult, PreflightContext, few
from swarmgate.config import is_program
from swarmgate.domain.events.event import PhaseEstimated
from swarmgate.domain.preflight import Reach
from swarmgate.domain.spending.budget import Account
from swarmgate.domain.spending.estimate import expected_of, shortfalls
from swarmgate.domain.state.state import State, replace
from swarmgate.domain.usage import Usage
from swarmgate.errors import SwarmError
from swarmgate.gates.definition import load
from swarmgate.gates.tools import table
from swarmgate.workspace.agent_programs import rules as agent_rules
from swarmgate.workspace.process import temporary

FREE_BYTES = 500_000_000
"""Less room stops a phase: snapshots, evidence and copies of the tree have to fit."""
FREE_SHARE, FREE_ENOUGH = 0.05, 5_000_000_000
"""Less than this share of a disk stops it too, unless so many bytes are free."""

_MB = 1_000_000


async def inspect_tools(context: PreflightContext) -> Mapping[str, CheckResult]:
    """`tools`: Python, git, and what every required gate that is on cannot do without."""
    skipped = context.config.gates.skip
    gates = [
        gate for gate in load(context.repository.root) if gate.enabled and gate.required and gate.id not in skipped
    ]
    wanted = [tool for gate in gates for tool in table.needed(gate) if tool.required]
    found = (await table.find([table.GIT, *wanted], context.repository.root, context.commands)).values()
    known = {each.name: each for each in found}
    description = ", ".join([f"python {platform.python_version()}", *map(str, known.values())])
    lacking = [each for each in found if each.problem]
    if lacking:
        hints = dict.fromkeys(each.hint for each in lacking if each.hint)
        return {
            "tools": CheckResult(
                description, "; ".join(map(str, lacking)), "; ".join(hints) or "See: swarm gates doctor"
            )
        }
    return {"tools": CheckResult(description)}


async def inspect_models(context: PreflightContext) -> Mapping[str, CheckResult]:
    """`models`: every role has a model that answers or a program that is there. No token is spent."""
    try:
        warnings = context.demands()
        models = {name: _models(context, name) for name in context.roles}
        reached = await context.reach([model for each in models.values() for model in each])
    except SwarmError as error:
        return {"models": CheckResult.of(error)}
    by_name = {each.provider: each for each in reached}
    description = "; ".join([*(f"{each.provider} {each.answered or 'does not answer'}" for each in reached), *warnings])
    failed = [each for each in reached if each.problem]
    if not failed:
        return {"models": CheckResult(description or "agent programs alone")}
    problem = "; ".join(f"{each.provider} ({each.base_url}): {each.problem}" for each in failed)
    hint = " ".join(dict.fromkeys(each.hint for each in failed if each.hint))
    stuck = [role for role, names in models.items() if not any(_answers(name, by_name) for name in names)]
    if stuck:
        return {"models": CheckResult(description, f"{problem}. No model answers for: {few(stuck)}", hint)}
    return {"models": CheckResult(description, f"{problem}. A fallback answers for every role", hint, blocks=False)}


def _models(context: PreflightContext, role: str) -> tuple[str, ...]:
    """The models of a role; raises where one of its agent programs is not there."""
    for problem in agent_rules.problems(context.config, context.repository.root, role):
        raise problem
    settings = context.config.role(role)
    return (settings.model, *settings.fallback)


def _answers(model: str, reached: Mapping[str, Reach]) -> bool:
    return is_program(model) or not reached[model.partition("/")[0]].problem


def inspect_budget(context: PreflightContext) -> Mapping[str, CheckResult]:
    """`budget`: none is used up, and what is left is as much as the phase is expected to use."""
    state, budgets = context.state, context.budgets()
    if state.finished:
        return {"budget": CheckResult("every phase is approved: nothing more is to be used", skipped=True)}
    measures = [(account, measure) for account in budgets for measure in account.measures()]
    description = ", ".join(f"{account.name}: {measure.text}" for account, measure in measures)
    used_up = [(account, measure) for account, measure in measures if measure.used_up]
    if used_up:
        account, measure = used_up[0]
        problem = f"{account.name} is used up ({measure.text})"
        return {"budget": CheckResult(description, problem, account.next_action.format(key=measure.key))}
    expected = _expected(state, context.phase)
    lasting = tuple(account for account in budgets if account.owner.kind != "run")  # the next run has a new one
    if short := _shortfalls(state, expected, lasting):
        description = f"{description}; judged by {expected.basis} completed tasks"
        return {"budget": CheckResult(description, "; ".join(short), "Raise what is too little in .swarm/config.toml.")}
    if not budgets:
        return {"budget": CheckResult("no limit is set", skipped=True)}
    guess = f"; judged by {expected.basis} completed tasks" if expected.basis else "; nothing to judge the phase by yet"
    return {"budget": CheckResult(description + guess)}


def _expected(state: State, phase: int) -> PhaseEstimated:
    """The estimate for the open tasks of any phase (`estimate.phase_estimate` knows the current one alone)."""
    tasks = state.plan.phase(phase).tasks if state.plan else ()
    open_tasks = [task for task in tasks if not state.task(task.id).settled]
    total = sum((expected_of(state, task) for task in open_tasks), Usage())
    return PhaseEstimated(
        phase=phase,
        tasks=len(open_tasks),
        basis=len(state.experience),
        tokens=total.tokens,
        usd=total.usd,
        seconds=round(total.seconds, 1),
    )


def _shortfalls(state: State, expected: PhaseEstimated, budgets: Sequence[Account]) -> tuple[str, ...]:
    if expected.phase != state.current_phase and "task" in state.rules.budgets:
        # `shortfalls` looks at the tasks of the current phase, which this is not.
        state = replace(state, rules=replace(state.rules, budgets=state.rules.budgets.delete("task")))
    return shortfalls(state, expected, budgets)


def inspect_disk(context: PreflightContext) -> Mapping[str, CheckResult]:
    """`disk`: room where the work tree, git's folder and temporary files lie."""
    places = (context.repository.root, context.repository.git_dir, temporary.place())
    descriptions, problems = [], []
    for place in dict.fromkeys(places):
        usage = shutil.disk_usage(place)
        words = f"{usage.free // _MB:,} MB of {usage.total // _MB:,} MB free at {place}"
        descriptions.append(words)
        if usage.free < FREE_BYTES or usage.free < min(FREE_SHARE * usage.total, FREE_ENOUGH):
            problems.append(words)
    if problems:
        least = f"{FREE_BYTES // _MB:,} MB, and {FREE_SHARE:.0%} of the disk or {FREE_ENOUGH // _MB:,} MB"
        return {
            "disk": CheckResult(descriptions[0], f"{'; '.join(problems)}: at least {least} is needed", "Make room.")
        }
    return {"disk": CheckResult(descriptions[0])}
