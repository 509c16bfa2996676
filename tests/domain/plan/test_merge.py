from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.domain.story import make_plan, make_task

from swarmgate.domain.plan.merge import Conflict, changed, merge
from swarmgate.domain.plan.plan import Complexity, Phase, Plan, Task, problems

BASE = make_plan([make_task("1.1"), make_task("1.2", "1.1"), make_task("1.3")], [make_task("2.1", "1.1")])


def _with(plan: Plan, task_id: str, **fields: object) -> Plan:
    """The plan with other fields of one task."""
    return Plan(
        title=plan.title,
        phases=tuple(
            Phase(
                name=phase.name,
                tasks=tuple(Task(**{**t.model_dump(), **fields}) if t.id == task_id else t for t in phase.tasks),
            )
            for phase in plan.phases
        ),
    )


def _ordered(plan: Plan, *ids: str) -> Plan:
    """The plan with these tasks in its first phase; one that it does not have is new."""
    tasks = tuple(plan.tasks.get(task_id) or make_task(task_id) for task_id in ids)
    return Plan(title=plan.title, phases=(Phase(name=plan.phases[0].name, tasks=tasks), *plan.phases[1:]))


# --- by example ---


def test_two_fields_of_one_task_are_merged() -> None:
    merged = merge(BASE, _with(BASE, "1.3", title="A"), _with(BASE, "1.3", files=("x.py",))).plan
    assert merged is not None
    assert (merged.tasks["1.3"].title, merged.tasks["1.3"].files) == ("A", ("x.py",))
    assert [phase.name for phase in merged.phases] == ["Stage 1", "Stage 2"]


@pytest.mark.parametrize(
    ("ours", "theirs", "order"),
    [
        (("1.3", "1.1", "1.2"), ("1.1", "1.2", "1.3"), ["1.3", "1.1", "1.2"]),
        (("1.3", "1.1", "1.2"), ("1.1", "1.4", "1.2", "1.3"), ["1.3", "1.1", "1.4", "1.2"]),
        (("1.1", "1.2", "1.3", "1.5"), ("1.1", "1.2", "1.3", "1.4"), ["1.1", "1.2", "1.3", "1.4", "1.5"]),
        (("1.4", "1.1", "1.2", "1.3"), ("1.1", "1.2"), ["1.4", "1.1", "1.2"]),
        (("1.1", "1.3"), ("1.1", "1.2"), ["1.1"]),
        (("1.1", "1.2", "1.3", "1.4"), ("1.1", "1.2", "1.3", "1.4", "1.5"), ["1.1", "1.2", "1.3", "1.4", "1.5"]),
    ],
)
def test_moves_additions_and_removals_are_merged(
    ours: tuple[str, ...], theirs: tuple[str, ...], order: list[str]
) -> None:
    for one, other in ((ours, theirs), (theirs, ours)):
        merged = merge(BASE, _ordered(BASE, *one), _ordered(BASE, *other)).plan
        assert merged is not None
        assert [task.id for task in merged.phases[0].tasks] == order


def test_a_new_phase_and_a_new_name_are_merged() -> None:
    more = Plan(title=BASE.title, phases=(*BASE.phases, Phase(name="More", tasks=(make_task("3.1"),))))
    named = Plan(title="Mine", phases=(Phase(name="First", tasks=BASE.phases[0].tasks), BASE.phases[1]))
    merged = merge(BASE, more, named).plan
    assert merged is not None
    assert (merged.title, [phase.name for phase in merged.phases]) == ("Mine", ["First", "Stage 2", "More"])


_SHORT = Plan(title=BASE.title, phases=BASE.phases[:1])
_GROWN = Plan(
    title=BASE.title,
    phases=(BASE.phases[0], Phase(name="Stage 2", tasks=(make_task("2.1", "1.1"), make_task("2.2")))),
)
_THIRD = Plan(title=BASE.title, phases=(*BASE.phases, Phase(name="More", tasks=(make_task("3.1"),))))


@pytest.mark.parametrize(
    ("ours", "theirs", "conflict"),
    [
        (_with(BASE, "1.3", title="A"), _with(BASE, "1.3", title="B"), Conflict("Task 1.3", "title", '"A"', '"B"')),
        (
            _with(BASE, "1.3", title="A"),
            _ordered(BASE, "1.1", "1.2"),
            Conflict("Task 1.3", "removal", "change it", "remove it"),
        ),
        (
            _ordered(BASE, "1.1", "1.2"),
            _with(BASE, "1.3", title="A"),
            Conflict("Task 1.3", "removal", "remove it", "change it"),
        ),
        (
            _ordered(BASE, "1.2", "1.1", "1.3"),
            _ordered(BASE, "1.3", "1.2", "1.1"),
            Conflict("Phase 1", "order", '["1.2", "1.1", "1.3"]', '["1.3", "1.2", "1.1"]'),
        ),
        (
            _ordered(BASE, "1.1", "1.2", "1.3", "1.4"),
            _with(_ordered(BASE, "1.1", "1.2", "1.3", "1.4"), "1.4", title="Other"),
            Conflict("Task 1.4", "title", '"Part 1.4"', '"Other"'),
        ),
        (
            _ordered(BASE, "1.1", "1.2", "1.3", "1.4"),
            _ordered(BASE, "1.4", "1.1", "1.2", "1.3"),
            Conflict("Phase 1", "order", '["1.1", "1.2", "1.3", "1.4"]', '["1.4", "1.1", "1.2", "1.3"]'),
        ),
        (_SHORT, _GROWN, Conflict("Phase 2", "removal", "remove it", "fill it")),
        (_THIRD, _SHORT, Conflict("Phase 2", "removal", "fill it", "remove it")),
    ],
)
def test_what_both_changed_is_named_with_what_each_wants(ours: Plan, theirs: Plan, conflict: Conflict) -> None:
    merged = merge(BASE, ours, theirs)
    assert merged.plan is None
    assert merged.conflicts == (conflict,)


def test_what_a_side_wants_is_shown_at_a_readable_length() -> None:
    (conflict,) = merge(BASE, _with(BASE, "1.3", title="A" * 999), _with(BASE, "1.3", title="B" * 999)).conflicts
    assert len(conflict.ours) == 123


def test_the_changed_tasks_are_those_with_another_definition_and_those_that_are_gone() -> None:
    assert changed(BASE, _ordered(_with(BASE, "1.1", title="A"), "1.4", "1.3", "1.1")) == {"1.1", "1.2"}
    assert changed(BASE, _ordered(BASE, "1.3", "1.2", "1.1")) == frozenset()


# --- other numbers for the same things ---


def _inserted() -> Plan:
    """The base with a new phase 2: the old one is phase 3, and its task 3.1."""
    docs = Task(id="2.1", title="Insert docs", acceptance=("docs",), files=("docs/x.md",))
    new = Phase(name="New stage", tasks=(docs,))
    moved = Task(**{**BASE.tasks["2.1"].model_dump(), "id": "3.1"})
    return Plan(title=BASE.title, phases=(BASE.phases[0], new, Phase(name="Stage 2", tasks=(moved,))))


@pytest.mark.parametrize(
    ("theirs", "place"),
    [
        (_with(BASE, "2.1", description="Handle expiry"), "Task 2.1"),
        (_with(BASE, "1.3", depends=("2.1",)), "Task 2.1"),
        (
            Plan(
                title="Parts",
                phases=(BASE.phases[0], Phase(name="Stage 2", tasks=(BASE.tasks["2.1"], make_task("2.2")))),
            ),
            "Phase 2",
        ),
    ],
)
def test_a_change_of_what_the_other_side_gave_another_number_is_a_conflict(theirs: Plan, place: str) -> None:
    for one, other in ((_inserted(), theirs), (theirs, _inserted())):
        merged = merge(BASE, one, other)
        assert merged.plan is None
        assert (place, "number") in [(clash.place, clash.field) for clash in merged.conflicts]


def test_tasks_that_swap_their_numbers_are_known_again() -> None:
    ids = {"1.1": "1.3", "1.3": "1.1"}
    tasks = [Task(**{**task.model_dump(), "id": ids.get(task.id, task.id)}) for task in BASE.phases[0].tasks]
    ours = Plan(title=BASE.title, phases=(Phase(name="Stage 1", tasks=tuple(tasks[::-1])), BASE.phases[1]))
    merged = merge(BASE, ours, _with(BASE, "1.3", description="D"))
    assert merged.conflicts[0] == Conflict(
        "Task 1.3", "number", "make it task 1.1", "change it or refer to it under its number"
    )


def test_other_numbers_disturb_nobody_who_is_about_something_else() -> None:
    merged = merge(BASE, _inserted(), _with(BASE, "1.3", title="A")).plan
    assert merged is not None
    assert (merged.tasks["1.3"].title, merged.tasks["3.1"].title) == ("A", "Part 2.1")


# --- rules ---

_WORDS = st.sampled_from(["A", "B", "C"])
_IDS = st.sampled_from([f"1.{n}" for n in range(1, 7)])


@st.composite
def _plans(draw: st.DrawFn) -> Plan:
    """What somebody may have made of `BASE`: tasks changed, moved, added, removed; phases named, added, removed."""
    phases = []
    for number in range(1, draw(st.integers(1, 3)) + 1):
        begun = [task.id for task in BASE.phases[number - 1].tasks] if number <= len(BASE.phases) else []
        ids = draw(st.lists(st.sampled_from([f"{number}.{n}" for n in range(1, 7)]), unique=True, max_size=5))
        ids = draw(st.sampled_from([begun, begun, ids])) or ids
        known = [BASE.tasks.get(task_id) or make_task(task_id) for task_id in ids]
        phases.append(Phase(name=draw(st.sampled_from([f"Stage {number}", "A", "B"])), tasks=tuple(known)))
    plan = Plan(title=draw(st.sampled_from(["Parts", "Parts", "A"])), phases=tuple(phases))
    for task_id in draw(st.lists(st.sampled_from(sorted(plan.tasks)), max_size=3)) if plan.tasks else ():
        name = draw(st.sampled_from(["title", "description", "acceptance", "complexity"]))
        value = {"acceptance": (draw(_WORDS),), "complexity": Complexity.MEDIUM}.get(name) or draw(_WORDS)
        plan = _with(plan, task_id, **{name: value})
    return plan


@settings(max_examples=20)
@given(_plans())
def test_a_change_of_one_side_is_the_result(theirs: Plan) -> None:
    for base in (BASE, theirs):
        assert merge(base, base, theirs).plan == theirs
        assert merge(base, theirs, base).plan == theirs
        assert merge(base, theirs, theirs).plan == theirs


@settings(max_examples=40)
@given(_plans(), _plans())
def test_it_does_not_matter_which_side_is_which(ours: Plan, theirs: Plan) -> None:
    one, other = merge(BASE, ours, theirs), merge(BASE, theirs, ours)
    assert one.plan == other.plan
    swapped = {Conflict(c.place, c.field, c.theirs, c.ours) for c in other.conflicts}
    assert set(one.conflicts) == swapped
    assert (one.plan is None) == bool(one.conflicts)


def _facts(base: Plan, plan: Plan) -> dict[tuple[str, str], object]:
    """What a plan says differently from the base, field by field; None for what it removed."""
    found: dict[tuple[str, str], object] = {("The plan", "title"): plan.title} if plan.title != base.title else {}
    for number in range(1, max(len(base.phases), len(plan.phases)) + 1):
        old, new = (p.phases[number - 1].name if number <= len(p.phases) else None for p in (base, plan))
        if old != new:
            found[f"Phase {number}", "name"] = new
    for task_id in {**base.tasks, **plan.tasks}:
        before, after = base.tasks.get(task_id), plan.tasks.get(task_id)
        if after is None:
            found[f"Task {task_id}", "removal"] = None
        for name in Task.model_fields if after is not None else ():
            if before is None or getattr(before, name) != getattr(after, name):
                found[f"Task {task_id}", name] = getattr(after, name)
    return found


@settings(max_examples=40)
@given(_plans(), _plans())
def test_without_a_conflict_both_edits_are_in_the_result_and_nothing_else(ours: Plan, theirs: Plan) -> None:
    merged = merge(BASE, ours, theirs).plan
    if merged is None:
        return
    assert _facts(BASE, merged) == {**_facts(BASE, ours), **_facts(BASE, theirs)}
    for side in (ours, theirs):
        for number, phase in side.numbered:
            ids = [task.id for task in phase.tasks if task.id in merged.tasks]
            was = [task.id for task in BASE.phases[number - 1].tasks] if number <= len(BASE.phases) else []
            old = [task_id for task_id in ids if task_id in was]
            if old != [task_id for task_id in was if task_id in old]:  # this side moved tasks: its order counts
                assert [task.id for task in merged.phase(number).tasks if task.id in old] == old


@settings(max_examples=40)
@given(_plans(), _plans())
def test_a_conflict_is_about_something_that_both_sides_changed(ours: Plan, theirs: Plan) -> None:
    mine, others = _facts(BASE, ours), _facts(BASE, theirs)
    for conflict in merge(BASE, ours, theirs).conflicts:
        if conflict.field in ("order", "removal", "number"):
            assert conflict.ours != conflict.theirs
            continue
        at = (conflict.place, conflict.field)
        assert mine[at] != others[at]


@settings(max_examples=20)
@given(_IDS, _IDS)
def test_a_merge_of_legal_plans_keeps_ids_in_their_phases(one: str, other: str) -> None:
    ours, theirs = (_ordered(BASE, *dict.fromkeys(("1.1", "1.2", "1.3", new))) for new in (one, other))
    merged = merge(BASE, ours, theirs).plan
    assert merged is not None
    assert problems(merged) == ()
