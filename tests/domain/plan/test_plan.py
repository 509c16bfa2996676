from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.domain.story import PLAN, make_plan, make_task

from swarmgate.domain.plan.plan import Complexity, Phase, Plan, Task, id_key, path_problem, problems, problems_of_change


def changed(task_id: str, **fields: Any) -> Plan:
    """The sample plan with one task changed."""
    phases = [
        Phase(
            name=phase.name,
            tasks=tuple(t.model_copy(update=fields) if t.id == task_id else t for t in phase.tasks),
        )
        for phase in PLAN.phases
    ]
    return Plan(title=PLAN.title, phases=tuple(phases))


def test_a_legal_plan_has_no_problems() -> None:
    assert problems(PLAN) == ()


@pytest.mark.parametrize(
    ("task_id", "fields", "told"),
    [
        ("1.2", {"id": "one"}, "Task 'one': the id must be phase.number"),
        ("1.2", {"id": "1.0"}, "Task '1.0': the id must be phase.number"),
        ("1.2", {"id": "1.²"}, "Task '1.²': the id must be phase.number"),
        ("1.2", {"id": "1.٣"}, "the id must be phase.number"),
        ("1.2", {"id": "1." + "9" * 5000}, "the id must be phase.number"),
        ("1.2", {"id": "../1.2"}, "the id must be phase.number"),
        ("1.3", {"id": "2.3"}, "Task 2.3 stands in phase 1: its id must begin with 1"),
        ("1.3", {"id": "1.2"}, "Task 1.2: the id is used twice"),
        ("1.2", {"title": ""}, "Task 1.2 has no title"),
        ("1.2", {"acceptance": ()}, "Task 1.2 has no acceptance criterion"),
        ("1.2", {"acceptance": ("", "")}, "Task 1.2 has no acceptance criterion"),
        ("1.2", {"acceptance": ("works", "")}, "Task 1.2 has an empty acceptance criterion"),
        ("1.2", {"files": ()}, "Task 1.2 names no files"),
        ("1.2", {"complexity": Complexity.LARGE}, "Task 1.2 is LARGE: split it"),
        ("1.2", {"depends": ("1.2",)}, "Task 1.2 depends on itself"),
        ("1.2", {"depends": ("1.9",)}, "Task 1.2 depends on '1.9', which does not exist"),
        ("1.2", {"depends": ("2.1",)}, "Task 1.2 depends on 2.1 of a later phase"),
        ("1.1", {"depends": ("1.2",)}, "the dependencies form a cycle: 1."),
        ("1.2", {"files": ("../x",)}, "Task 1.2: the file '../x' must not hold '..'"),
        ("1.2", {"files": ("/etc/x",)}, "Task 1.2: the file '/etc/x' must be relative"),
        ("1.2", {"files": (".git/config",)}, "Task 1.2: the file '.git/config' lies in .git or .swarm"),
    ],
)
def test_each_broken_rule_names_its_task(task_id: str, fields: dict[str, Any], told: str) -> None:
    found = problems(changed(task_id, **fields))
    assert any(told in problem for problem in found), found


def test_every_broken_rule_is_told_and_not_only_the_first() -> None:
    found = problems(changed("1.2", title="", files=(), acceptance=(), complexity=Complexity.LARGE))
    assert len(found) == 4
    assert all("Task 1.2" in problem for problem in found)


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (Plan(title="", phases=PLAN.phases), "The plan has no title."),
        (Plan(title="x"), "The plan has no phases."),
        (Plan(title="x", phases=(Phase(name="a"),)), "Phase 1 has no tasks."),
        (Plan(title="x", phases=(Phase(name=" ", tasks=(make_task("1.1"),)),)), "Phase 1 has no name."),
    ],
)
def test_a_plan_has_a_title_and_named_phases_with_tasks(plan: Plan, told: str) -> None:
    assert told in problems(plan)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("", "empty"),
        ("a\x00b", "no file name can have"),
        ("a\ud800", "no file name can have"),
        ("/etc/passwd", "relative"),
        ("~/x", "relative"),
        ("a\\b", "forward slashes"),
        ("C:/x", "relative"),
        ("a/../../x", "'..'"),
        ("..", "'..'"),
        ("src/", "folder"),
        (".", "folder"),
        ("./.git/hooks/x", ".git"),
        ("sub/.GIT/x", ".git"),
        (".swarm/ledger.jsonl", ".swarm"),
        (".Swarm/x", ".swarm"),
    ],
)
def test_unsafe_paths_are_refused(path: str, told: str) -> None:
    assert told in path_problem(path)


@pytest.mark.parametrize(
    "path", ["src/a.py", "a..b", "...", ".github/x.yml", "src/.swarm/x", "ä ö/ü.py", "-rf", "a.git"]
)
def test_ordinary_paths_pass(path: str) -> None:
    assert path_problem(path) == ""


@pytest.mark.parametrize("length", [2, 3, 5000])
def test_a_cycle_is_named_in_its_order_however_long(length: int) -> None:
    tasks = [make_task(f"1.{n}", f"1.{n % length + 1}") for n in range(1, length + 1)]
    (found,) = problems(make_plan([*tasks, make_task(f"1.{length + 1}", "1.1")]))
    assert "Task 1.1: the dependencies form a cycle: 1.1 -> 1.2 -> " in found
    assert found.endswith("-> 1.1.")
    assert len(found) < 300


def test_a_cycle_between_impossible_ids_is_told_and_does_not_crash() -> None:
    plan = make_plan([make_task("1.²", "1.x"), make_task("1.x", "1.²")])
    assert any("form a cycle" in problem for problem in problems(plan))


@pytest.mark.parametrize("shape", ["chain", "fan", "cycle"])
def test_a_plan_of_5000_tasks_is_checked_fast(shape: str) -> None:
    shapes: dict[str, Callable[[int], tuple[str, ...]]] = {
        "chain": lambda n: (f"1.{n - 1}",) if n > 1 else (),
        "fan": lambda n: ("1.1",) if n > 1 else (),
        "cycle": lambda n: (f"1.{n % 5000 + 1}",),
    }
    plan = make_plan([make_task(f"1.{n}", *shapes[shape](n)) for n in range(1, 5001)])
    begin = time.process_time()
    found = problems(plan)
    assert time.process_time() - begin < 1
    assert len(found) == (shape == "cycle")


def test_ids_sort_by_number() -> None:
    assert sorted(["1.10", "2.1", "1.9", "x"], key=id_key) == ["x", "1.9", "1.10", "2.1"]


def test_the_indexes_know_every_task_and_its_phase() -> None:
    assert list(PLAN.tasks) == ["1.1", "1.2", "1.3", "2.1"]
    assert PLAN.phase_numbers == {"1.1": 1, "1.2": 1, "1.3": 1, "2.1": 2}
    assert PLAN.phase(2).name == "Stage 2"


# --- problems_of_change ---


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"title": "Other"}, 'title must be "Part 1.1"'),
        ({"acceptance": ("x",)}, 'acceptance must be ["part 1.1 works"]'),
        ({"depends": ("1.3",), "files": ("y",)}, 'files must be ["src/part_1.1.py"]; depends must be []'),
    ],
)
def test_a_settled_task_cannot_be_rewritten_and_what_has_to_stand_is_named(fields: dict[str, Any], wanted: str) -> None:
    (found,) = problems_of_change(PLAN, changed("1.1", **fields), frozenset({"1.1"}))
    assert found == (
        f"Task 1.1 is complete, skipped or running, and stays as it is: {wanted}. "
        "Put what has to change into a new task."
    )


def test_the_refusal_of_a_rewritten_task_stays_readable() -> None:
    long = changed("1.1", description="x" * 5000)
    (found,) = problems_of_change(long, changed("1.1", description=""), frozenset({"1.1"}))
    assert len(found) < 400


def test_a_settled_task_cannot_be_removed() -> None:
    (found,) = problems_of_change(PLAN, make_plan([make_task("1.1")]), frozenset({"2.1"}))
    assert found == "Task 2.1 is complete, skipped or running: it must stay in the plan."


def test_open_tasks_may_change_go_come_and_move() -> None:
    new = make_plan([make_task("1.3"), make_task("1.1"), make_task("1.4", "1.1")], title="Other")
    assert problems_of_change(PLAN, new, frozenset({"1.1"})) == ()


def test_a_change_that_breaks_the_rules_is_told_with_them() -> None:
    new = changed("1.2", depends=("1.9",))
    assert problems_of_change(PLAN, new, frozenset()) == ("Task 1.2 depends on '1.9', which does not exist.",)


def test_a_task_is_equal_by_value() -> None:
    assert make_task("1.1") == Task(**make_task("1.1").model_dump())


def test_a_plan_shares_the_tasks_that_are_equal_and_stays_what_it_is() -> None:
    read_again = make_plan([make_task("1.1", title="Other"), make_task("1.2"), make_task("2.1", "1.1")], title="New")
    known = make_plan([make_task("1.1"), make_task("1.2"), make_task("2.1", "1.1"), make_task("2.2")])
    shared = read_again.sharing(known)
    assert shared == read_again
    assert shared.model_dump() == read_again.model_dump()
    assert [task_id for task_id, task in shared.tasks.items() if task is known.tasks.get(task_id)] == ["1.2", "2.1"]
    assert shared.sharing(known) is shared  # there is nothing left to win
