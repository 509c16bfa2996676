"""The quality budget inside the loop: limits from the settings, tests judged at the end, what the user overrules."""

from __future__ import annotations

from typing import Any

import pytest
from tests.project import Project, code, engineer, review, rule, verdict

from swarmgate.domain.events import event as ev
from swarmgate.domain.review.finding import GateStatus
from swarmgate.domain.state.state import Attempt, Outcome
from swarmgate.errors import IllegalMove
from swarmgate.ledger.ledger import Ledger

PART = "src/calc/part_1.1.py"
_BRANCHES = "".join(f"    if value == {n}:\n        return {n * n}\n" for n in range(30))
BRANCHY = f'"""A part."""\n\n\ndef _pick(value: int) -> int:\n    """Pick."""\n{_BRANCHES}    return 0\n'
WIDE = '"""A part."""\n' + "".join(
    f'\n\ndef _part_{n}(value: int) -> int:\n    """Add."""\n    return value + {n}\n' for n in range(20)
)
FEW = {"tests/test_part.py": "def test_part() -> None:\n    assert sum((1, 1)) == 2\n"}
MANY = {
    "tests/test_part.py": "\n\n".join(
        f"def test_{n}() -> None:\n    assert sum(({n}, 1)) == {n + 1}\n" for n in range(20)
    )
}


def attempts(project: Project) -> tuple[Attempt, ...]:
    return project.state.task("1.1").attempts


@pytest.mark.slow
def test_a_costly_change_is_rejected_and_an_override_with_its_reason_lets_it_pass(project: Project) -> None:
    project.planned(code({PART: BRANCHY}, task="1.1"), gates__quality={"min_test_to_code_ratio": "off"})
    project.swarm("run", exits=1)
    last = attempts(project)[-1]
    assert last.stage == "gates: quality_budget"
    assert "_pick (complexity new, 31)" in last.reason
    project.swarm("override", "1.1", "--reason", "A-TABLE-WOULD-NOT-BE-CLEARER")
    project.swarm("run", exits=3)
    assert attempts(project)[-1].outcome is Outcome.COMPLETE
    assert "gates: quality_budget: A-TABLE-WOULD-NOT-BE-CLEARER" in project.folder.context.read_text()
    assert project.events(ev.RejectionOverridden)[0].reason == "A-TABLE-WOULD-NOT-BE-CLEARER"
    assert project.trailers()["Swarm-Override"] == "gates: quality_budget: A-TABLE-WOULD-NOT-BE-CLEARER"
    assert project.json("verify")["passed"]


@pytest.mark.slow
def test_the_settings_reach_the_gate_in_the_loop(project: Project) -> None:
    project.planned(
        code({PART: BRANCHY}, task="1.1"),
        gates__quality={"max_complexity_delta": 30, "min_test_to_code_ratio": "off"},
    )
    project.swarm("run", exits=3)
    assert attempts(project)[-1].outcome is Outcome.COMPLETE


@pytest.mark.slow
def test_too_few_tests_are_judged_after_the_test_engineer(project: Project) -> None:
    project.planned(
        code({PART: WIDE}, task="1.1"),
        engineer(FEW, attempt="1"),
        engineer(MANY, attempt="2"),
        tests={"must_fail": "off"},
    )
    project.swarm("run", exits=3)
    first, second = attempts(project)
    assert first.stage == "gates: quality_budget"
    assert "lines of tests for" in first.reason
    assert project.events(ev.GatesRun)[0].statuses["quality_budget"] is GateStatus.PASS
    assert second.outcome is Outcome.COMPLETE


def weighs(word: str, summary: str) -> dict[str, object]:
    return rule("architect", "weigh", [verdict(word, summary)])


ALLOWED: dict[str, Any] = {
    "gates": {"architect_overrides_budget": True},
    "gates__quality": {"min_test_to_code_ratio": "off"},
}


@pytest.mark.slow
def test_the_architect_may_accept_what_is_beyond_the_budget_where_the_user_lets_it(project: Project) -> None:
    project.planned(code({PART: BRANCHY}, task="1.1"), weighs("APPROVED", "ONE-RULE\neach"), **ALLOWED)
    project.swarm("run", exits=3)
    first, second = attempts(project)
    assert (first.stage, second.outcome) == ("gates: quality_budget", Outcome.COMPLETE)
    (asked,) = project.briefs("architect", "weigh", task="1.1", attempt="1")
    assert "_pick (complexity new, 31)" in asked
    assert "+def _pick(value: int)" in asked
    (event,) = project.events(ev.RejectionOverridden)
    assert (event.by, event.reason) == ("architect", "ONE-RULE each")
    reason = "gates: quality_budget, by the architect: ONE-RULE each"
    assert f"- Task 1.1, {reason}" in project.folder.context.read_text()
    assert project.trailers()["Swarm-Override"] == reason
    assert project.json("verify")["passed"]
    assert "override of gates: quality_budget by the architect: ONE-RULE each" in project.swarm("show", "1.1").stdout
    assert project.json("show", "1.1")["overridden_by"] == {"gates: quality_budget": "architect"}
    for told in (project.swarm("handoff"), project.swarm("evidence", "summary")):
        assert reason in " ".join(told.stdout.split())
        assert "by the user: gates" not in " ".join(told.stdout.split())


@pytest.mark.slow
def test_the_architect_that_holds_to_the_budget_has_it_mended(project: Project) -> None:
    project.planned(
        code({PART: BRANCHY}, task="1.1"),
        weighs("REJECTED", "USE-A-TABLE"),
        **{**ALLOWED, "loop": {"max_rejections": 2}},
    )
    project.swarm("run", exits=1)
    assert not project.events(ev.RejectionOverridden)
    assert "USE-A-TABLE" in project.briefs("architect", "delegate", task="1.1", attempt="2")[0]
    told = [event.note for event in project.events(ev.GuardActed) if event.note.rule == "budget-weighed"]
    assert [(note.attempt, note.detail) for note in told] == [(1, "USE-A-TABLE"), (2, "USE-A-TABLE")]
    assert "USE-A-TABLE" in project.swarm("show", "1.1").stdout
    assert [each.stage for each in attempts(project)][:2] == ["gates: quality_budget"] * 2


@pytest.mark.slow
def test_the_architect_overrules_no_other_gate_and_nothing_unasked(project: Project) -> None:
    project.planned(review("REJECTED", "wrong", "it is wrong"), weighs("APPROVED", "harmless"), **ALLOWED)
    project.swarm("run", exits=1)
    assert not project.briefs("architect", "weigh")
    event = ev.RejectionOverridden(task="1.1", stage=attempts(project)[-1].stage, reason="x", by="architect")
    with Ledger.write(project.folder) as ledger:
        with pytest.raises(IllegalMove, match="quality_budget and nothing else"):
            ledger.append([event], expect=ledger.state.seq)
        ledger.append([event.model_copy(update={"by": "user"})], expect=ledger.state.seq)
