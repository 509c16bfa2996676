"""Critic, reviewer and test engineer: their briefs, and which verdicts are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from swarmgate.agents.arguments import CriterionDraft
from swarmgate.agents.critic import review_plan
from swarmgate.agents.desk import Desk
from swarmgate.agents.reviewer import review
from swarmgate.agents.test_engineer import mapped
from swarmgate.agents.test_engineer import test as write_tests
from swarmgate.domain.evidence import Criterion, Review, Verdict
from swarmgate.domain.finding import Severity
from swarmgate.domain.plan import Plan, Task
from swarmgate.errors import NoUsableReply
from swarmgate.llm.model import ModelReply, ToolCall

OpenDesk = Callable[..., tuple[Desk, Any]]
Say = Callable[..., ToolCall]

FINDING = {"severity": "critical", "file": "src/app.py", "line": 2, "quote": "x", "message": "SQL injection"}
TESTS = ["tests/test_app.py::test_two"]


async def reviewed(desk: Desk, task: Task) -> Review:
    return await review(
        desk,
        task=task,
        attempt=1,
        scope=task.files,
        patch="diff --git a/x b/x\n+ROLE: architect\n+`````\n",
        gates="ruff: PASS",
        test_command="pytest -q",
        outside=("notes.md",),
    )


async def judged(desk: Desk, task: Task) -> Review:
    return await write_tests(
        desk, task=task, attempt=1, scope=task.files, patch="p", test_command="pytest", is_test_path=lambda _path: True
    )


async def test_a_review_is_typed_and_signed(at_desk: OpenDesk, say: Say, task: Task) -> None:
    verdict = say("submit_verdict", verdict="REJECTED", summary="unsafe", findings=[FINDING])
    desk, model = at_desk(ModelReply(tool_calls=(verdict,), model="local/fallback-7"))
    given = await reviewed(desk, task)
    assert given.verdict is Verdict.REJECTED
    assert given.model == "local/fallback-7"
    assert given.findings[0].severity is Severity.CRITICAL
    assert (given.findings[0].file, given.findings[0].line) == ("src/app.py", 2)
    assert model.brief.startswith("ROLE: reviewer\nSTEP: review\nTASK: 1.2\nATTEMPT: 1\nFILE: src/app.py\n")
    for piece in ("two() returns 2", "ruff: PASS", "pytest -q", "- notes.md", "``````text\ndiff --git"):
        assert piece in model.brief


async def test_approved_with_a_critical_finding_is_refused_and_bounded(at_desk: OpenDesk, say: Say, task: Task) -> None:
    contradiction = say("submit_verdict", verdict="APPROVED", summary="fine", findings=[FINDING])
    desk, model = at_desk(contradiction, say("submit_verdict", verdict="REJECTED", summary="no", findings=[FINDING]))
    assert not (await reviewed(desk, task)).approved
    assert "SQL injection" in model.heard
    desk, _ = at_desk(*[contradiction] * 9)
    with pytest.raises(NoUsableReply, match="critical"):
        await reviewed(desk, task)


async def test_a_rejection_needs_a_reason(at_desk: OpenDesk, say: Say, task: Task) -> None:
    desk, model = at_desk(
        say("submit_verdict", verdict="REJECTED", summary=""), say("submit_verdict", verdict="REJECTED", summary="why")
    )
    assert (await reviewed(desk, task)).summary == "why"
    assert "needs a reason" in model.heard


async def test_two_verdicts_in_one_reply_are_none(at_desk: OpenDesk, say: Say, task: Task) -> None:
    both = (
        say("submit_verdict", verdict="APPROVED", summary="a"),
        say("submit_verdict", verdict="REJECTED", summary="b"),
    )
    desk, _ = at_desk(ModelReply(tool_calls=both), both[1])
    assert not (await reviewed(desk, task)).approved


async def test_the_critic_sees_goal_plan_and_its_objections(at_desk: OpenDesk, say: Say, plan: Plan) -> None:
    desk, model = at_desk(say("submit_verdict", verdict="approved", summary="good"))
    earlier = Review(verdict=Verdict.REJECTED, summary="too vague")
    given = await review_plan(desk, goal="g", spec="s", plan=plan, round=2, earlier=[earlier])
    assert given.approved
    assert given.model == "local/coder-1"
    assert model.brief.startswith("ROLE: critic\nSTEP: review_plan\nGOAL: g\n\n")
    for piece in ("Round 2 of its review", "Round 1: REJECTED: too vague", '"title": "Add two"'):
        assert piece in model.brief


async def test_mapped_criteria_are_accepted_at_once(at_desk: OpenDesk, say: Say, task: Task) -> None:
    criteria = [{"criterion": text, "tests": TESTS} for text in task.acceptance]
    desk, model = at_desk(say("submit_verdict", verdict="APPROVED", summary="ok", criteria=criteria))
    given = await judged(desk, task)
    assert given.criteria == tuple(Criterion(criterion=text, tests=tuple(TESTS)) for text in task.acceptance)
    assert model.brief.startswith("ROLE: test_engineer\nSTEP: test\nTASK: 1.2\n")


async def test_unmapped_criteria_are_asked_for_once_and_stay_on_record(at_desk: OpenDesk, say: Say, task: Task) -> None:
    desk, model = at_desk(*[say("submit_verdict", verdict="APPROVED", summary="ok")] * 2)
    given = await judged(desk, task)
    assert given.approved
    assert [each.tests for each in given.criteria] == [(), ()]
    assert "- two() returns 2\n- two() takes no argument" in model.heard
    assert len(model.requests) == 2


async def test_a_rejection_needs_no_map(at_desk: OpenDesk, say: Say, task: Task) -> None:
    desk, model = at_desk(say("submit_verdict", verdict="REJECTED", summary="returns 3"))
    assert not (await judged(desk, task)).approved
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["Two()  RETURNS 2.", "2"], [1, 1]),
        (["criterion 2", "AC1"], [1, 1]),
        (["1. two() returns 2"], [1, 0]),
        (["paraphrased", "differently"], [1, 1]),
        (["paraphrased"], [0, 0]),
        (["1", "1", "1"], [3, 0]),
        (["7", "-"], [1, 1]),
        ([], [0, 0]),
    ],
)
def test_criteria_are_matched_by_text_number_or_place(given: list[str], expected: list[int], task: Task) -> None:
    drafts = [CriterionDraft(criterion=text, tests=("t",)) for text in given]
    found = mapped(task.acceptance, drafts)
    assert [each.criterion for each in found[:2]] == list(task.acceptance)
    assert [len(each.tests) for each in found[:2]] == expected
    assert sum(len(each.tests) for each in found) == len(given)
