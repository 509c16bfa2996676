import copy
import json

import pytest
from pydantic import TypeAdapter, ValidationError
from tests.domain.story import play, started

from swarmgate.domain.events import event as ev
from swarmgate.domain.review.stage import NOBODY, UNDECIDED, Judge, Stage
from swarmgate.domain.state.state import Block, State
from swarmgate.domain.transitions.fold import fold

STAGES: TypeAdapter[Stage] = TypeAdapter(Stage)


@pytest.mark.parametrize(
    ("text", "judge", "names"),
    [
        ("gates: sast_scan", Judge.GATES, ("sast_scan",)),
        ("gates: lint_check, sast_scan", Judge.GATES, ("lint_check", "sast_scan")),
        ("gates", Judge.GATES, ()),
        ("breaker: wall_time", Judge.BREAKER, ("wall_time",)),
        ("trajectory: repetition loop", Judge.TRAJECTORY, ("repetition loop",)),
        ("tests prove nothing", Judge.PROVES_NOTHING, ()),
        ("security_reviewer", Judge.SECURITY_REVIEWER, ()),
        ("the neighbour: loud", Judge.OTHER, ("loud",)),
        ("", Judge.OTHER, ()),
    ],
)
def test_a_stage_is_read_once_and_stays_its_own_text(text: str, judge: Judge, names: tuple[str, ...]) -> None:
    stage = STAGES.validate_python(text)
    assert (stage.judge, stage.names, stage) == (judge, names, text)
    assert (STAGES.validate_json(STAGES.dump_json(stage)), bool(stage)) == (stage, bool(text))
    again = copy.deepcopy(stage)
    assert (again, again.judge, again.names) == (stage, judge, names)


@pytest.mark.parametrize("judge", list(Judge))
def test_every_judge_is_found_again_in_what_it_writes(judge: Judge) -> None:
    assert Stage.of(judge).judge is judge
    assert Stage.of(Judge.GATES, "a", "b") == "gates: a, b"
    assert (UNDECIDED, NOBODY) == ("breaker: debate", "")


def test_gates_are_overruled_one_by_one_and_all_others_as_they_are() -> None:
    assert Stage("gates: a, b").parts == {"a", "b"}
    assert Stage("tests switched off").parts == {"tests switched off"}
    assert Stage("breaker: idle").parts == {"breaker: idle"}


def test_a_stage_is_a_line_and_that_of_a_rejection_has_no_parentheses() -> None:
    assert STAGES.validate_python(" gates:\n a ") == "gates: a"
    assert ev.TaskBlocked(task="1.1", stage="architect (of old)", reason="no").stage.judge is Judge.OTHER
    with pytest.raises(ValidationError, match="has parentheses"):
        ev.AttemptRejected(task="1.1", attempt=1, stage="gates (all)", reason="no")


def _line(seq: int, event: str) -> ev.Entry:
    return ev.Entry.model_validate_json(f'{{"seq":{seq},"time":"2025-01-01T00:00:00Z","actor":"x","event":{event}}}')


@pytest.mark.parametrize("stage", ["gates: ruff, sast_scan", "reviewer", "breaker: idle", "gates", "a judge of 2024"])
def test_lines_of_an_old_ledger_fold_as_they_did_and_are_written_as_they_were(stage: str) -> None:
    state = play(State(), *started())
    delegated = ev.TaskDelegated(
        task="1.1", attempt=1, kind=ev.AttemptKind.CODER, scope=("a.py",), instructions="x", tree="0" * 40
    )
    state = play(state, delegated)
    rejected = f'{{"type":"attempt_rejected","task":"1.1","attempt":1,"stage":"{stage}","reason":"no"}}'
    blocked = f'{{"type":"task_blocked","task":"1.1","stage":"{stage}","reason":"no"}}'
    entries = [_line(state.seq + 1, rejected), _line(state.seq + 2, blocked)]
    record = fold(state, entries).task("1.1")
    assert [attempt.stage for attempt in record.attempts] == [stage]
    assert (record.reason, record.block) == (f"({stage}) no", Block(Stage(stage), "no"))
    assert [json.loads(entry.model_dump_json())["event"]["stage"] for entry in entries] == [stage, stage]
