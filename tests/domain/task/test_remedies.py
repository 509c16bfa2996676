"""The ways out of a blocked task, for every stage that can stop one."""

from __future__ import annotations

import pytest
from tests.domain.story import RED, YES, passing, play, rejection, started

from swarmgate.domain.events import event as ev
from swarmgate.domain.next_step import Waiting, waiting_for
from swarmgate.domain.review.evidence import Remark
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.review.stage import Stage
from swarmgate.domain.state.state import Block, State
from swarmgate.domain.task.remedies import attack_files, no_override, of_model, override_line, removed_files
from swarmgate.engine.reports.outcome import actions
from swarmgate.errors import IllegalMove


def stopped_by(stage: str, block: str = "", reason: str = "reviewer (review), model m: idle") -> State:
    """A state whose only attempt at 1.1 was rejected by a stage, and that is blocked by it or by another one."""
    return play(
        State(),
        *started(max_rejections=1),
        *passing("1.1")[:2],
        rejection("1.1", 1, stage, reason),
        ev.TaskBlocked(task="1.1", stage=block or stage, reason=reason),
    )


def said(state: State) -> str:
    return "\n".join(actions(state, Waiting.BLOCKED_TASK))


@pytest.mark.parametrize(
    ("stage", "told"),
    [
        ("tests prove nothing", '[tests] must_fail = "warn"'),
        ("tests prove nothing", "refactoring"),
        ("tests switched off", '[tests] vanished = "warn"'),
        ("scope", "[scope] max_outside"),
        ("scope", 'enforce = "warn"'),
        ("scope", 'swarm retry 1.1 --note "declare'),
        ("adversarial_tests", '[tests] adversarial = "off"'),
        ("security_reviewer", '[review] security = "off"'),
        ("mutation", "[tests] min_kill_rate"),
        ("commit", "hooks"),
        ("gates: quality_budget, lint", "swarm gates explain lint"),
        ("gates: quality_budget, lint", "swarm gates explain quality_budget"),
        ("breaker: idle", "another model in [roles.reviewer], or a higher `idle` in [breakers.roles.reviewer]"),
        ("breaker: wall_time", "a higher `wall_time_s` in"),
        ("breaker: replies", "a higher `replies` in [loop]"),
        ("reviewer", 'swarm override 1.1 --reason "...": overrule the rejection by reviewer'),
    ],
)
def test_each_stage_has_its_way_out(stage: str, told: str) -> None:
    state = stopped_by(stage)
    assert waiting_for(state) is Waiting.BLOCKED_TASK
    assert told in said(state)
    assert "swarm retry 1.1" in said(state)
    assert "swarm skip 1.1" in said(state)


@pytest.mark.parametrize(
    ("problem", "helps"),
    [
        ("Not carried out: the reply was cut off, it is too long (at max_tokens = 1,000 of the role)", "max_tokens"),
        ("Not carried out: the reply was cut off: it said the same over and over", "repeats itself"),
        ("The reply is text without a tool call; only tool calls count here", "`tools = false` in [roles.coder]"),
        ("The reply is empty; only tool calls count here", "answers nothing"),
    ],
)
def test_what_is_the_models_fault_names_what_helps(problem: str, helps: str) -> None:
    assert helps in of_model(
        f"coder (code), model a/b: gave no usable reply, the last problem being: {problem}", "coder"
    )


def test_a_role_that_never_judged_cannot_be_overruled() -> None:
    state = stopped_by("breaker: idle")
    assert "swarm override" not in said(state)
    with pytest.raises(IllegalMove, match="nobody judged") as caught:
        play(state, ev.RejectionOverridden(task="1.1", stage="breaker: idle", reason="go on"))
    assert "[roles.reviewer]" in caught.value.hint
    assert "swarm retry 1.1" in caught.value.hint


def test_an_empty_change_is_not_to_be_accepted() -> None:
    empty = ev.ChangeCaptured(task="1.1", attempt=1, tree="c", files=())
    begun = (*started(max_rejections=1), passing("1.1")[0], empty)
    nothing = play(State(), *begun, rejection("1.1", 1, "gates: diff"))
    assert no_override(nothing.task("1.1").last)
    assert not no_override(stopped_by("gates: diff").task("1.1").last)


def test_a_pattern_names_the_rejection_that_an_override_would_overrule() -> None:
    state = stopped_by("reviewer", block="trajectory: repetition loop", reason="NO-UNIT")
    assert state.task("1.1").block == Block(Stage("trajectory: repetition loop"), "NO-UNIT")
    assert "overrule the last rejection, by reviewer (NO-UNIT)" in said(state)


def test_a_refused_architect_needs_another_model_and_nothing_is_overruled() -> None:
    block = ev.TaskBlocked(task="1.1", stage="architect", reason="SELF_CODING_BLOCK: it wrote files")
    state = play(State(), *started(), block)
    assert "[roles.architect]" in said(state)
    assert "swarm override" not in said(state)


def red(names: tuple[str, ...]) -> State:
    """Task 1.1 with tests that were run and failed."""
    run = RED.model_copy(update={"failures": names, "failed": len(names) or 1})
    tested = [*passing("1.1")[:5], ev.TestsRun(task="1.1", attempt=1, tree="r", run=run, passed=False)]
    return play(State(), *started(), *tested, rejection("1.1", 1, "tests"))


def test_an_override_of_tests_says_which_stay_red() -> None:
    known = override_line("1.1", red(("tests/test_a.py::test_b",)).task("1.1"))
    assert "tests/test_a.py::test_b" in known
    assert "delete or mend" in known
    unknown = override_line("1.1", red(()).task("1.1"))
    assert "each later task fails on them too" in unknown


def failing(*names: str) -> ev.TestsRun:
    run = RED.model_copy(update={"failures": names, "failed": len(names)})
    return ev.TestsRun(task="1.1", attempt=2, tree="r", run=run, passed=False)


def test_an_override_of_an_attack_names_the_files_that_leave_the_tree() -> None:
    found = Remark(severity=Severity.HIGH, file="tests/test_attack.py", message="fails")
    attacked = ev.AttemptRejected(task="1.1", attempt=1, stage="adversarial_tests", reason="x", feedback=(found,))
    written = ev.AdversarialTestsWritten(task="1.1", attempt=1, tree="a", review=YES, tests=("tests/test_attack.py",))
    state = play(State(), *started(), *passing("1.1")[:5], written, attacked)
    assert attack_files(state.task("1.1")) == ("tests/test_attack.py",)
    assert "tests/test_attack.py is taken out again" in override_line("1.1", state.task("1.1"))
    after = [*passing("1.1", 2)[:5], failing("tests/test_attack.py::test_x", "tests/test_a.py::test_b")]
    mixed = override_line("1.1", play(state, *after, rejection("1.1", 2, "tests")).task("1.1"))
    assert "tests/test_attack.py is taken out again" in mixed
    assert "it commits tests/test_a.py::test_b as failing" in mixed
    alone = play(state, *after[:-1], failing("tests/test_attack.py::test_x"), rejection("1.1", 2, "tests"))
    assert "as failing" not in override_line("1.1", alone.task("1.1"))
    assert removed_files(alone.task("1.1"), {Stage("tests")}) == ("tests/test_attack.py",)
    assert removed_files(alone.task("1.1"), {Stage("reviewer")}) == ()
    retried = play(state, ev.TaskRetried(task="1.1"))
    assert attack_files(retried.task("1.1")) == ()


def test_firm_gates_offer_no_override_and_say_what_they_want() -> None:
    told = said(stopped_by("gates: secret_scan"))
    assert "swarm override" not in told
    assert "swarm gates explain secret_scan" in told
