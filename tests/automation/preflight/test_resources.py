"""Tests the preflight checks of resources: tools, models, budget, disk, dependencies."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from immutables import Map
from tests.automation.preflight.conftest import Contexts
from tests.domain.story import make_plan, make_task
from tests.project import Project

from swarmgate.automation.preflight import dependencies, resources
from swarmgate.automation.preflight.context import CheckResult
from swarmgate.config import Config
from swarmgate.domain.events.event import PhaseEstimated
from swarmgate.domain.plan.plan import Complexity
from swarmgate.domain.preflight import Reach
from swarmgate.domain.spending.budget import accounts
from swarmgate.domain.spending.estimate import shortfalls
from swarmgate.domain.state.state import PhaseRecord, Planning, State, TaskRecord, TaskStatus, replace
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.errors import MissingRequirement

pytestmark = pytest.mark.suite("unittest")

# --- tools, models ---


async def test_tools_are_told_with_their_versions(context: Contexts) -> None:
    found = (await resources.inspect_tools(context()))["tools"]
    assert found.problem == ""
    assert all(word in found.detail for word in ("python 3.", "git 2.", "ruff"))


async def test_a_required_tool_that_is_missing_stops_the_phase(project: Project, context: Contexts) -> None:
    gate = 'id = "house"\ntitle = "House"\ncommand = ["no-such-linter", "{files}"]\ninstall_hint = "pip install it"\n'
    project.write(".swarm/gates/house.toml", gate)
    found = (await resources.inspect_tools(context()))["tools"]
    assert "no-such-linter" in found.problem
    assert "pip install it" in found.hint
    project.configure(gates={"skip": ["house"]})
    assert (await resources.inspect_tools(context()))["tools"].problem == ""


def speaking(**models: Any) -> Config:
    roles = {name: {"model": model[0], "fallback": list(model[1:])} for name, model in models.items()}
    providers = {name: {"base_url": f"http://{name}.test/v1"} for name in ("one", "two")}
    return Config.model_validate({"roles": roles, "providers": providers})


def reaching(**problems: str) -> Any:
    async def reach(models: Sequence[str]) -> Sequence[Reach]:
        names = dict.fromkeys(model.partition("/")[0] for model in models if not model.startswith("command:"))
        return [
            Reach(provider=name, base_url=f"http://{name}.test/v1", problem=problems.get(name, ""), hint="start it")
            for name in names
        ]

    return reach


async def test_a_model_that_does_not_answer_stops_the_roles_that_have_no_other(context: Contexts) -> None:
    config = speaking(coder=("one/a", "two/b"), critic=("two/b",))
    common = {"config": config, "roles": ("coder", "critic")}
    assert (await resources.inspect_models(context(**common, reach=reaching())))["models"].problem == ""
    found = (await resources.inspect_models(context(**common, reach=reaching(one="down"))))["models"]
    assert (found.blocks, found.hint) == (False, "start it")
    assert "one (http://one.test/v1): down" in found.problem
    found = (await resources.inspect_models(context(**common, reach=reaching(two="down"))))["models"]
    assert found.blocks
    assert "No model answers for: critic" in found.problem


async def test_an_agent_program_has_to_be_there(context: Contexts) -> None:
    config = speaking(coder=("command:no-such-agent -p",))
    found = (await resources.inspect_models(context(config=config, roles=("coder",), reach=reaching())))["models"]
    assert "no-such-agent" in found.problem
    config = speaking(coder=("command:sh -c true",))
    found = (await resources.inspect_models(context(config=config, roles=("coder",), reach=reaching())))["models"]
    assert found == CheckResult("agent programs alone")


async def test_what_the_settings_ask_for_is_told_and_missing_ones_stop(context: Contexts) -> None:
    found = (await resources.inspect_models(context(demands=lambda: ("coder and reviewer are alike",))))["models"]
    assert "alike" in found.detail

    def missing() -> Sequence[str]:
        raise MissingRequirement("THE_KEY is not set", hint="export THE_KEY=...")

    found = (await resources.inspect_models(context(demands=missing)))["models"]
    assert (found.problem, found.hint) == ("THE_KEY is not set", "export THE_KEY=...")


# --- budget, disk, dependencies ---


def planned_state(spent: int = 0, *, experience: int = 0, **limits: Any) -> State:
    plan = make_plan([make_task("1.1"), make_task("1.2")], [make_task("2.1", "1.1"), make_task("2.2", "2.1")])
    state = State()
    took = tuple((Complexity.SMALL, Usage(prompt_tokens=experience)) for _ in range(1 if experience else 0))
    return replace(
        state,
        plan=plan,
        planning=Planning.APPROVED,
        usage=Usage(prompt_tokens=spent),
        experience=took,
        rules=replace(state.rules, **limits),
    )


def budget(context: Contexts, state: State, phase: int = 1) -> CheckResult:
    return resources.inspect_budget(context(state=state, phase=phase, budgets=lambda: accounts(state, "")))["budget"]


def test_no_limit_is_nothing_to_look_at(context: Contexts) -> None:
    assert budget(context, planned_state(experience=500)).skipped


def test_a_budget_that_is_used_up_stops_the_phase(context: Contexts) -> None:
    found = budget(context, planned_state(1000, budget_tokens=1000))
    assert "used up (1,000 of 1,000 tokens)" in found.problem
    assert "raise" in found.hint


@pytest.mark.parametrize("phase", [1, 2])
def test_a_budget_is_held_against_what_the_phase_is_expected_to_use(context: Contexts, phase: int) -> None:
    enough = planned_state(100, experience=400, budget_tokens=1000)
    assert budget(context, enough, phase).problem == ""
    assert "judged by 1 completed task" in budget(context, enough, phase).detail
    short = planned_state(300, experience=400, budget_tokens=1000)
    found = budget(context, short, phase)
    assert f"phase {phase} is expected to use 800 tokens, and the budget has 700 left" in found.problem


def test_the_budget_of_one_run_is_no_measure_of_a_phase(context: Contexts) -> None:
    short = planned_state(0, experience=400, budgets=Map({"run": Allowance(tokens=500)}))
    found = budget(context, short)
    assert "this run: 0 of 500 tokens" in found.detail
    assert found.problem == ""
    own = planned_state(0, experience=400, budgets=Map({"phase": Allowance(tokens=500)}))
    assert "phase 1 has 500 left" in budget(context, own).problem


def test_where_every_phase_is_approved_no_budget_is_needed(context: Contexts) -> None:
    state = planned_state(1000, experience=400, budget_tokens=1000, budgets=Map({"task": Allowance(tokens=1)}))
    phases = {1: PhaseRecord(approved=True), 2: PhaseRecord(approved=True)}
    assert budget(context, replace(state, phases=Map(phases))).skipped
    assert shortfalls(replace(state, phases=Map(phases)), PhaseEstimated(phase=1, tasks=0, basis=1), ()) == ()


def test_without_completed_tasks_there_is_nothing_to_judge_by(context: Contexts) -> None:
    found = budget(context, planned_state(budget_tokens=1))
    assert found.problem == ""
    assert "nothing to judge" in found.detail


def test_a_full_disk_stops_the_phase(context: Contexts, monkeypatch: pytest.MonkeyPatch) -> None:
    def free(share: float, total: int) -> None:
        usage = SimpleNamespace(total=total, used=0, free=int(share * total))
        monkeypatch.setattr("shutil.disk_usage", lambda _place: usage)

    free(0.5, 10**12)
    assert resources.inspect_disk(context())["disk"].problem == ""
    free(0.01, 10**12)  # a hundredth of it is a lot all the same
    assert resources.inspect_disk(context())["disk"].problem == ""
    free(0.01, 10**11)
    assert "1,000 MB of 100,000 MB" in resources.inspect_disk(context())["disk"].problem
    free(0.5, 9 * 10**8)
    assert "450 MB" in resources.inspect_disk(context())["disk"].problem


def test_what_a_phase_depends_on_has_to_be_done(context: Contexts) -> None:
    state = planned_state()
    found = dependencies.inspect(context(state=state, phase=2))["dependencies"]
    assert found.problem == "not done yet: 1.1 (pending), needed by 2.1"
    for status in (TaskStatus.COMPLETE, TaskStatus.SKIPPED):
        done = replace(state, tasks=state.tasks.set("1.1", TaskRecord(status=status)))
        assert dependencies.inspect(context(state=done, phase=2))["dependencies"].problem == ""
    assert dependencies.inspect(context(state=state, phase=1))["dependencies"].problem == ""


def test_a_task_that_is_done_needs_nothing_any_more(context: Contexts) -> None:
    state = planned_state()
    skipped = replace(state, tasks=state.tasks.set("2.1", TaskRecord(status=TaskStatus.SKIPPED)))
    found = dependencies.inspect(context(state=skipped, phase=2))["dependencies"]
    assert found == CheckResult("2 tasks, 1 open; they need nothing of other phases")


def test_what_was_looked_at_is_told(context: Contexts) -> None:
    done = TaskRecord(status=TaskStatus.COMPLETE)
    state = planned_state()
    state = replace(state, tasks=state.tasks.set("1.1", done))
    found = dependencies.inspect(context(state=state, phase=2))["dependencies"]
    assert found == CheckResult("2 tasks, 2 open; what they need of other phases is done: 1.1")
    over = replace(state, tasks=state.tasks.set("2.1", done).set("2.2", done))
    assert dependencies.inspect(context(state=over, phase=2))["dependencies"] == CheckResult("2 tasks, 0 open")
