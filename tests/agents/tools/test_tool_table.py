"""Schemas as models get them, and calls as models send them."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.agents.tools.arguments import Arguments, FindingDraft, Finish, SavePlan, SubmitVerdict
from swarmgate.agents.tools.tool_table import IN_TEXT, OFFERED, TOOLS, BadCall, offered, read_call
from swarmgate.domain.plan.plan import Kind
from swarmgate.domain.review.finding import Severity
from swarmgate.llm.model import ToolCall

EVERY = [(role, step, tool) for role, step in OFFERED for tool in offered(role, step, Arguments)]
PLAN: dict[str, Any] = {
    "title": "T",
    "phases": [
        {
            "name": "P",
            "tasks": [
                {
                    "id": "1.1",
                    "title": "A",
                    "description": "d",
                    "acceptance": ["x"],
                    "files": ["a.py"],
                    "depends": [],
                    "complexity": "SMALL",
                }
            ],
        }
    ],
}


def read(role: str, step: str, name: str, arguments: Any) -> Any:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return read_call(ToolCall(id="c", name=name, arguments=text), offered(role, step))[1]


def refusal(arguments: Any) -> str:
    with pytest.raises(BadCall) as caught:
        read("architect", "plan", "save_plan", arguments)
    return str(caught.value)


@pytest.mark.parametrize(("role", "step", "tool"), EVERY)
def test_schemas_are_plain_json_schema_without_references(role: str, step: str, tool: Any) -> None:
    text = json.dumps(tool.spec.parameters)
    assert tool.spec.parameters["type"] == "object"
    assert not any(word in text for word in ("$ref", "$defs", "anyOf", '"default": null'))
    assert tool.spec.parameters["additionalProperties"] is False


def test_every_step_can_be_ended_and_every_tool_is_offered_to_somebody() -> None:
    for role, step in OFFERED:
        ends = any(tool.ends for tool in offered(role, step))  # in a form, too, where there is one
        assert ends is ((role, step) not in IN_TEXT or step == "chat")  # a tool ends it, a text a turn of it
    assert {tool.name for _, _, tool in EVERY} == set(TOOLS)


def test_arguments_by_the_contract_are_taken() -> None:
    plan = read("architect", "plan", "save_plan", PLAN).plan()
    assert plan.tasks["1.1"].files == ("a.py",)
    said = plan.model_dump(mode="json")
    assert [task.pop("kind") for phase in said["phases"] for task in phase["tasks"]] == ["feature"]
    assert said == PLAN
    (phase,) = PLAN["phases"]
    told = {**PLAN, "phases": [{**phase, "tasks": [{**phase["tasks"][0], "kind": " Refactoring"}]}]}
    assert read("architect", "plan", "save_plan", told).plan().tasks["1.1"].kind is Kind.REFACTORING
    assert "criteria" in offered("test_engineer", "test")[-1].spec.parameters["properties"]
    assert "criteria" not in offered("reviewer", "review")[-1].spec.parameters["properties"]


@pytest.mark.parametrize(
    ("given", "line"), [(3, 3), ("12", 12), ("12-20", 12), ("L7", 7), (None, None), (0, None), ("?", None), ("", None)]
)
def test_line_numbers_are_read_leniently(given: Any, line: int | None) -> None:
    assert FindingDraft.model_validate({"severity": "low", "message": "m", "line": given}).line == line


def test_what_is_clear_all_the_same_is_taken() -> None:
    finding = {"severity": "Major", "message": "m", "file": None, "suggestion": None}
    call = read("reviewer", "review", "submit_verdict", {"verdict": "rejected", "summary": "s", "findings": [finding]})
    assert call.findings[0].severity is Severity.HIGH
    assert call.findings[0].file == ""
    assert read("architect", "delegate", "declare_scope", {"files": "a.py"}).files == ("a.py",)
    assert read("architect", "delegate", "declare_scope", {"files": '["a.py", "b.py"]'}).files == ("a.py", "b.py")
    assert read("coder", "code", "run_gates", "").model_dump() == {}
    assert read("coder", "code", "finish", json.dumps('{"summary": "twice"}')).summary == "twice"
    assert read("coder", "code", "write_file", '{"path": "a", "content": "x\ny"}').content == "x\ny"
    assert isinstance(
        read("critic", "review_plan", "submit_verdict", {"verdict": "APPROVED", "summary": ""}), SubmitVerdict
    )


def test_a_word_that_is_no_verdict_is_none() -> None:
    with pytest.raises(BadCall, match="'APPROVED' or 'REJECTED'"):
        read("reviewer", "review", "submit_verdict", {"verdict": "LGTM", "summary": ""})


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("acceptance", 5, "Task 1.1: `phases[0].tasks[0].acceptance`: must be a list"),
        ("files", [1], "Task 1.1: `phases[0].tasks[0].files[0]`: must be a valid string"),
        ("complexity", "HUGE", "Task 1.1: `phases[0].tasks[0].complexity`: must be 'SMALL', 'MEDIUM' or 'LARGE'"),
        ("dependencies", [], "Task 1.1: `phases[0].tasks[0].dependencies`: unknown key; did you mean `depends`?"),
        ("id", 1.1, "Task 1.1: `phases[0].tasks[0].id`: must be a valid string"),
    ],
)
def test_type_errors_of_a_plan_name_the_task(key: str, value: Any, told: str) -> None:
    broken = json.loads(json.dumps(PLAN))
    broken["phases"][0]["tasks"][0][key] = value
    assert told in refusal(broken)


def test_a_task_without_an_id_is_named_by_title_or_place() -> None:
    assert "Task A: `phases[0].tasks[0].id`: is missing" in refusal(
        {"title": "T", "phases": [{"name": "P", "tasks": [{"title": "A"}]}]}
    )
    assert "Task number 2 of phase 1" in refusal(
        {"title": "T", "phases": [{"name": "P", "tasks": [PLAN["phases"][0]["tasks"][0], 7]}]}
    )
    assert "Phase 1: `phases[0].tasks`: is missing" in refusal({"title": "T", "phases": [{"name": "P"}]})


def test_every_error_is_listed_at_once() -> None:
    told = refusal({"title": "T", "phases": [{"name": "P", "tasks": [{"id": "1.1"}, {"id": "1.2", "files": 3}]}]})
    assert told.count("\n- Task 1.1") == 4
    assert told.count("\n- Task 1.2") == 4


def test_a_flood_of_errors_is_cut() -> None:
    told = refusal({"title": "T", "phases": [{"name": "P", "tasks": [7] * 10_000}]})
    assert "- and 9950 more" in told
    assert len(told) < 10_000


KEYS = st.sampled_from(["title", "phases", "tasks", "id", "files", "name"]) | st.text()
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


@pytest.mark.slow
@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner)))
def test_whatever_json_comes_is_a_plan_or_a_refusal(value: Any) -> None:
    with contextlib.suppress(BadCall):
        assert isinstance(read("architect", "plan", "save_plan", json.dumps(value)), SavePlan)


@given(st.text())
def test_whatever_text_comes_as_arguments_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(BadCall):
        assert isinstance(read("coder", "code", "finish", text.encode(errors="replace").decode()), Finish)
