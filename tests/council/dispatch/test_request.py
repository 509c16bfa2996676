"""Tests the validation of dispatch requests, and refusals that name the parameter."""

from __future__ import annotations

from typing import Any

import pytest

from swarmgate.council.dispatch.model import DispatchTask, Mode
from swarmgate.council.dispatch.request import ROLES, checked
from swarmgate.errors import CouncilRefused


def tasks(*names: str, text: str = "Look.") -> list[dict[str, Any]]:
    return [{"participant": name, "text": text} for name in names]


def refused(mode: Any, given: Any, **more: Any) -> CouncilRefused:
    with pytest.raises(CouncilRefused) as caught:
        checked(mode, given, **more)
    return caught.value


def test_tasks_are_records_or_mappings() -> None:
    own = DispatchTask(role="critic", text=" What breaks? ", model="local/senior", folder="src")
    found = checked("parallel", [own, {"participant": "ops", "text": "And at night?"}])
    assert found.mode is Mode.PARALLEL
    assert [(task.name, task.text, task.folder) for task in found.tasks] == [
        ("critic", "What breaks?", "src"),
        ("ops", "And at night?", ""),
    ]
    assert (found.question, found.rounds) == ("", 0)


@pytest.mark.parametrize("mode", ["single", "chain", "parallel", Mode.PARALLEL])
def test_one_task_will_do_where_nobody_is_contradicted(mode: str) -> None:
    assert checked(mode, tasks("a")).mode == mode


@pytest.mark.parametrize(
    ("mode", "count", "told"),
    [
        ("single", 0, "exactly one task"),
        ("single", 2, "exactly one task"),
        ("parallel", 0, "1 to 8 tasks"),
        ("parallel", 9, "1 to 8 tasks"),
        ("chain", 0, "1 to 50 tasks"),
        ("chain", 51, "1 to 50 tasks"),
        ("debate", 1, "2 to 8 tasks"),
        ("debate", 9, "2 to 8 tasks"),
    ],
)
def test_each_mode_has_its_number_of_tasks(mode: str, count: int, told: str) -> None:
    error = refused(mode, tasks(*(f"p{number}" for number in range(count))))
    assert f"there are {count} tasks: mode {mode} takes {told}" in error.message


def test_every_refusal_lists_modes_and_roles() -> None:
    error = refused("single", [])
    assert error.hint.startswith("modes: single, parallel, chain, debate; roles: architect, critic, ")
    assert all(role in error.hint for role in ROLES)
    assert (error.exit_code, error.code) == (2, "COUNCIL")


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("paralel", "unknown mode 'paralel'; did you mean `parallel`?"),
        ("", "the modes are single, parallel, chain, debate"),
        (7, "unknown mode 7"),
        (None, "unknown mode None"),
    ],
)
def test_an_unknown_mode_is_told_the_nearest(mode: Any, told: str) -> None:
    assert told in refused(mode, tasks("a")).message


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ({"role": "critc", "text": "x"}, "task 2: unknown role 'critc'; did you mean `critic`?"),
        ({"role": "participant", "text": "x"}, "task 2: unknown role 'participant'; the roles are architect, critic"),
        ({"role": ["critic"], "text": "x"}, "task 2: unknown role ['critic']"),
        ({"role": "critic", "agent": "a", "text": "x"}, "task 2: has an `agent` and a `role`: give one of the two"),
        ({"text": "x"}, "task 2: has no `agent`, `role` or `participant`"),
        ({"role": "critic"}, "task 2: `text` is missing"),
        ({"role": "critic", "text": " \n"}, "task 2: `text` must not be empty"),
        ({"role": "critic", "text": 7}, "task 2: `text` must be text"),
        ({"role": "critic", "txt": "x"}, "task 2: "),
        ({"role": "critic", "text": "x", "modle": "m/n"}, "task 2: unknown key `modle`; did you mean `model`?"),
        ({"participant": "two words", "text": "x"}, "task 2: `participant` must be a name of letters"),
        ({"participant": "ROLE: x\n", "text": "x"}, "task 2: `participant` must be a name of letters"),
        ({"role": "critic", "text": "x", "folder": "/etc"}, "task 2: `folder` must be inside of the repository"),
        ({"role": "critic", "text": "x", "folder": "src/../.."}, "task 2: `folder` must be inside of the repository"),
        ({"role": "critic", "text": "x", "folder": 3}, "task 2: `folder` must be text"),
        ({"role": "critic", "text": "x", "task": "y"}, "task 2: has a `text` and a `task`: give one of the two"),
        ({"role": "critic", "text": "x", "modelTier": "a", "model_tier": "b"}, "unknown key `modelTier`; did you mean"),
        ({3: "critic"}, "task 2: "),
        ("Look.", "task 2: must be a table with `agent`, `role` or `participant`, and `text`"),
        (None, "task 2: must be a table"),
    ],
)
def test_a_task_that_is_none_is_refused_by_number_and_key(task: Any, told: str) -> None:
    assert told in refused("parallel", [*tasks("a"), task]).message


def test_keys_of_other_programs_are_read_in_tasks_as_in_seats() -> None:
    given = [{"agent": "critic", "task": "What breaks?", "modelTier": "validation"}]
    [task] = checked("parallel", given).tasks
    assert (task.text, task.model_tier) == ("What breaks?", "validation")


@pytest.mark.parametrize("given", [None, "Look.", {"role": "critic", "text": "x"}, 3, iter([])])
def test_tasks_are_a_list(given: Any) -> None:
    assert "`tasks` must be a list" in refused("single", given).message


@pytest.mark.parametrize("mode", ["single", "parallel", "chain"])
def test_rounds_and_question_belong_to_a_debate(mode: str) -> None:
    assert f"`rounds` is legal with mode debate only, not with {mode}" in refused(mode, tasks("a"), rounds=2).message
    assert "`question` is legal with mode debate only" in refused(mode, tasks("a"), question="Why?").message


@pytest.mark.parametrize("rounds", [0, 6, -1, True, 2.0, "2"])
def test_a_debate_has_one_to_five_rounds(rounds: Any) -> None:
    error = refused("debate", tasks("a", "b"), rounds=rounds)
    assert f"`rounds` is {rounds!r}: a debate has 1 to 5 rounds" in error.message


def test_the_rounds_of_the_settings_hold_where_none_are_given() -> None:
    assert checked("debate", tasks("a", "b"), default_rounds=4).rounds == 4
    assert checked("debate", tasks("a", "b"), rounds=1, default_rounds=4).rounds == 1


def test_the_question_of_a_debate_is_given_or_is_the_text_of_all() -> None:
    assert checked("debate", tasks("a", "b", text="Is it sound?")).question == "Is it sound?"
    differing = [*tasks("a", text="For it."), *tasks("b", text="Against it.")]
    assert checked("debate", differing, question="Is it sound?").question == "Is it sound?"
    question = checked("debate", differing).question
    assert question.splitlines()[1:] == ["- a: For it.", "- b: Against it."]  # who argues for what, for all to read
    assert "`question` must be text" in refused("debate", differing, question=["Why?"]).message


def test_roles_that_take_part_more_than_once_are_numbered_and_names_are_not() -> None:
    given = [{"agent": "reviewer", "task": "For it."}, {"role": "reviewer", "text": "Against."}, *tasks("chair")]
    made = checked("debate", [*given, {"role": "critic", "participant": "sceptic", "text": "Doubt it."}])
    assert [each.name for each in made.tasks] == ["reviewer-1", "reviewer-2", "chair", "sceptic"]
    assert [each.text for each in made.tasks[:2]] == ["For it.", "Against."]
    assert "reviewer-1 takes part twice" in refused("debate", [*given, *tasks("reviewer-1")]).message


def test_a_name_takes_part_in_a_debate_once_and_elsewhere_as_often_as_one_likes() -> None:
    assert "task 2: a takes part twice" in refused("debate", tasks("a", "a")).message
    mixed = [{"role": "critic", "text": "x"}, {"participant": "critic", "text": "x"}]
    assert "critic takes part twice" in refused("debate", mixed).message
    for mode in ("parallel", "chain"):
        assert len(checked(mode, tasks("a", "a")).tasks) == 2


def test_the_first_of_a_chain_has_nothing_before_it() -> None:
    first = [{"participant": "a", "text": "Mend {previous}"}, *tasks("b")]
    assert "task 1: `{previous}` stands in the first task of a chain" in refused("chain", first).message
    assert checked("parallel", first).tasks[0].text == "Mend {previous}"
    assert checked("chain", [*tasks("b"), first[0]]).tasks[1].text == "Mend {previous}"
