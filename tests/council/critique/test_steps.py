"""Tests critiques over a scripted server: best version, failures, program checks, time limit, resume."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from tests.council.conftest import Council, Rule

from swarmgate.council.context import CouncilContext
from swarmgate.council.critique.model import Criterion, Critique, CritiqueOutcome, Iteration, Score
from swarmgate.council.critique.program_checks import Unchecked
from swarmgate.council.critique.request import critique_of
from swarmgate.council.critique.rules import RULES
from swarmgate.council.critique.state import State
from swarmgate.council.critique.steps import CRITIQUE, Work, prepared
from swarmgate.council.critique.view import score_lines
from swarmgate.council.records.record import Record
from swarmgate.council.records.store import Records
from swarmgate.council.run import run
from swarmgate.council.views.events import CouncilEvent
from swarmgate.council.views.stream import PATTERN_EVENT
from swarmgate.domain.review.votes import Seat
from swarmgate.errors import CouncilFailed, CouncilRefused, SwarmError
from swarmgate.journal.documents import FileDocuments
from swarmgate.ledger.files.folder import SwarmFolder


def said(step: str, number: int | None, *replies: Any, **match: Any) -> Rule:
    wanted = {"role": "participant", "step": step, **({"round": str(number)} if number else {}), **match}
    return {"match": wanted, "replies": [{"text": each} if isinstance(each, str) else each for each in replies]}


def scored(*scores: float, suggestions: tuple[str, ...] = ("say more",)) -> str:
    listed = [{"criterion": f"c{n}", "score": each, "reason": f"why {n}"} for n, each in enumerate(scores)]
    return json.dumps({"scores": listed, "suggestions": suggestions})


VERSIONS = (said("generate", None, "v1"), said("improve", None, "v{{round}}"))


@dataclass
class Bench:
    """A critique of two criteria over the council's server, with a record in files."""

    council: Council
    records: Records
    events: list[CouncilEvent] = field(default_factory=list)

    def critique(self, **fields: Any) -> Critique:
        given = {"id": "k1", "task": "Write it.", "criteria": ["c0=first", "c1=second"], "timeout_s": 20, **fields}
        return critique_of(**given)

    async def improve(
        self, *rules: Rule, checks: Any = None, play: bool = True, request_hash: str = "", **fields: Any
    ) -> CritiqueOutcome:
        if play:
            self.council.play(*VERSIONS, *rules)
        critique = self.critique(**fields)
        work = Work(critique, checks)
        context = self.context(work)
        CRITIQUE.check(critique, context, lambda _: "")
        record = self.records.begin(CRITIQUE, critique, request_hash=request_hash)
        await run(CRITIQUE, record, context)
        return work.outcome(record.standing)

    def context(self, own: Work | None = None) -> CouncilContext:
        return CouncilContext(self.council, self.records, self.events.append, own)

    @property
    def record(self) -> Record[Critique, State, CritiqueOutcome]:
        return self.records.open(CRITIQUE, "k1")

    @property
    def done(self) -> tuple[Iteration, ...]:
        return self.record.standing.own.done

    @property
    def told(self) -> list[Any]:
        return list(self.events)

    def asked(self, step: str) -> list[str]:
        """The briefs of a step, in order."""
        return [str(each.messages[1]["content"]) for each in self.council.heard(step=step)]


@pytest.fixture
def bench(council: Council) -> Bench:
    return Bench(council, Records(FileDocuments(SwarmFolder(council.repo).path), clean=lambda value: value))


async def test_the_best_version_is_given_and_improved_not_the_last(bench: Bench) -> None:
    rules = (
        said("evaluate", 1, scored(0.4, 0.5)),
        said("evaluate", 2, scored(0.9, 0.6, suggestions=("mend the end",))),
        said("evaluate", 3, scored(0.2, 0.1)),
        said("evaluate", 4, scored(0.9, 0.6)),
    )
    outcome = await bench.improve(*rules, iterations=4)
    assert (outcome.best, outcome.version, round(outcome.mean, 9), outcome.passed) == (2, "v2", 0.75, False)
    assert (outcome.ended_by, outcome.iterations, outcome.usage.calls) == ("iterations", 4, 8)
    assert outcome.improvement == pytest.approx(0.3)
    assert [each.built_on for each in bench.done] == [0, 1, 2, 2]
    assert [each.evaluation.mean if each.evaluation else None for each in bench.done] == pytest.approx(
        [0.45, 0.75, 0.15, 0.75]
    )
    last = bench.asked("improve")[-1]
    assert "\nv2\n" in last
    assert "\nv3\n" not in last
    assert "c1: 0.60, below its threshold: why 1" in last
    assert "- mend the end" in last
    assert "3. weighted mean 0.15" in last
    kinds = [each.event for each in bench.told]
    assert (kinds[0], kinds[-1], kinds.count("round_completed")) == ("started", "completed", 4)
    assert all(PATTERN_EVENT.validate_json(each.model_dump_json()) == each for each in bench.told)
    assert bench.record.standing.status == "complete"


async def test_it_ends_as_soon_as_everything_is_met_and_is_given_again_at_once(bench: Bench) -> None:
    rules = (said("evaluate", 1, scored(0.6, 1.0)), said("evaluate", 2, scored(0.8, 0.9)))
    outcome = await bench.improve(*rules, iterations=9, evaluator_model="local/judge", draft="a draft\n")
    assert (outcome.best, outcome.passed, outcome.ended_by) == (2, True, "passed")
    assert [each.event for each in bench.told][-2:] == ["converged", "completed"]
    assert bench.done[0].version == "a draft"
    models = {each.headers["STEP"]: each.body["model"] for each in bench.council.heard(role="participant")}
    assert models == {"evaluate": "judge", "improve": "plain"}
    assert {each.evaluation.model for each in bench.done if each.evaluation} == {"local/judge"}
    before = len(bench.council.heard())
    again = await bench.improve(play=False, iterations=9, evaluator_model="local/judge", draft="a draft\n")
    assert (again, len(bench.council.heard())) == (outcome, before)
    with pytest.raises(CouncilRefused, match="another critique"):
        await bench.improve(play=False, iterations=8)


async def test_an_evaluation_that_cannot_be_read_is_an_error_of_that_iteration(bench: Bench) -> None:
    rules = (
        said("evaluate", 1, "It is fine, 9/10.", "Really: 85%."),
        said("evaluate", 2, "hm", scored(7, -1)),  # asked once more, in the same turn
        said("evaluate", 3, '{"scores": {"c0": "0.9", "c1": 0.9}}'),
    )
    outcome = await bench.improve(*rules, iterations=3)
    first, second, third = bench.done
    assert (first.evaluation, first.failed_at, first.version) == (None, "evaluate", "v1")
    assert "no JSON object" in first.failed
    assert (second.version, outcome.version, outcome.best) == ("", "v1", 2)  # the same version, judged again
    assert second.evaluation is not None
    assert [(each.score, each.clamped) for each in second.evaluation.scores] == [(1.0, 7.0), (0.0, -1.0)]
    assert (third.evaluation, "`c0` is no number" in third.failed) == (None, True)
    assert outcome.mean == 0.5
    assert [each.headers["STEP"] for each in bench.council.heard(round="2")] == ["evaluate", "evaluate"]
    assert [each.failed != "" for each in bench.told if each.event == "contribution" and each.step == "evaluate"] == [
        True,
        False,
        True,
    ]


async def test_nothing_that_could_be_judged_is_a_failure_with_no_score(bench: Bench) -> None:
    with pytest.raises(CouncilFailed, match="no version was judged in 2 whole iterations"):
        await bench.improve(said("evaluate", None, "good"), iterations=2)
    failed = bench.record.standing
    assert (failed.status, failed.usage.calls) == ("failed", 5)  # each evaluation was asked for once more
    assert bench.told[-1].event == "error"
    assert len(bench.asked("generate")) == 1


async def test_a_first_version_that_is_not_made_fails_and_a_later_one_does_not(bench: Bench) -> None:
    down = {"fault": {"kind": "500"}}
    with pytest.raises(CouncilFailed, match="no first version"):
        await bench.improve(said("generate", 1, down))
    assert [*bench.done] == []
    rules = (said("evaluate", None, scored(0.5, 0.5)), said("improve", 2, down))
    outcome = await bench.improve(*rules, said("evaluate", 3, scored(0.9, 0.9)))  # taken up: it asks anew
    assert (outcome.best, outcome.version, outcome.iterations) == (3, "v3", 3)
    assert (bench.done[1].failed_at, bench.done[1].version, bench.done[2].built_on) == ("improve", "", 1)
    assert bench.record.standing.why == ""


async def test_a_version_that_comes_again_is_not_judged_again_and_twice_is_the_end(bench: Bench) -> None:
    rules = (said("evaluate", None, scored(0.5, 0.5)), said("improve", None, "```\nv1\n```"))
    outcome = await bench.improve(*rules, iterations=10)
    assert (outcome.ended_by, outcome.iterations, outcome.best) == ("unchanged", 3, 1)
    assert [each.same_as for each in bench.done] == [0, 1, 1]
    assert len(bench.asked("evaluate")) == 1


@pytest.mark.slow
async def test_when_its_time_is_over_the_best_so_far_is_given_and_another_sitting_goes_on(bench: Bench) -> None:
    rules = (said("evaluate", 1, scored(0.5, 0.5)), said("evaluate", 2, {"fault": {"kind": "hang"}}))
    outcome = await bench.improve(*rules, whole_s=1)
    assert (outcome.ended_by, outcome.version, outcome.iterations) == ("timeout", "v1", 1)
    assert outcome.usage.calls == 3  # the version that was not judged was paid for
    standing = bench.record.standing
    assert (standing.status, standing.why) == ("paused", "the time of the whole critique was up")
    assert standing.usage == outcome.usage
    record = RULES.record(bench.record.standing)
    assert (record.status, record.outcome) == ("paused", outcome)
    assert bench.told[-1].event == "completed"
    assert bench.told[-1].outcome["ended_by"] == "timeout"
    again = await bench.improve(*rules, said("evaluate", 2, scored(0.9, 0.9)), whole_s=1)
    assert (again.ended_by, again.version, again.iterations, again.usage.calls) == ("passed", "v2", 2, 4)
    assert bench.asked("improve") == []  # the version at work was on record
    standing = bench.record.standing
    assert (standing.status, standing.why, RULES.record(bench.record.standing).outcome) == ("complete", "", again)


@pytest.mark.slow
async def test_a_sitting_in_which_nothing_could_be_judged_is_paused_too(bench: Bench) -> None:
    with pytest.raises(CouncilFailed, match="in 0 whole iterations; its 1 s are over"):
        await bench.improve(said("evaluate", None, {"fault": {"kind": "hang"}}), whole_s=1)
    record = RULES.record(bench.record.standing)
    assert (record.status, record.outcome, bench.record.standing.usage.calls) == ("paused", None, 1)
    assert score_lines(record)[-1] == "No version was judged yet: the time of the whole critique was up."
    outcome = await bench.improve(said("evaluate", None, scored(0.9, 0.9)), whole_s=1)
    assert (outcome.version, outcome.ended_by, bench.asked("generate")) == ("v1", "passed", [])


async def test_a_record_with_a_failed_iteration_answers_no_other_request(bench: Bench) -> None:
    rules, hashed = (said("evaluate", 1, "fine"), said("evaluate", 2, scored(0.9, 0.9))), "0" * 64
    await bench.improve(*rules, iterations=2, request_hash=hashed)
    assert bench.done[0].failed
    assert (bench.record.standing.request_hash, bench.records.find(CRITIQUE, hashed)) == ("", None)
    await bench.improve(said("evaluate", None, scored(0.9, 0.9)), iterations=2, id="k2", request_hash=hashed)
    found = bench.records.find(CRITIQUE, hashed)
    assert found
    assert found.id == "k2"


class Killed(BaseException):
    """The process is gone."""


async def test_it_goes_on_after_the_last_whole_iteration_and_with_the_version_at_work(bench: Bench) -> None:
    rules = (said("evaluate", 1, scored(0.5, 0.5)), said("evaluate", 2, scored(0.9, 0.9)))
    bench.council.play(*VERSIONS, *rules)

    def kill(event: Any) -> None:
        if event.event == "step" and (event.number, event.step) == (2, "evaluate"):
            raise Killed

    context = replace(bench.context(Work(bench.critique())), on_event=kill)
    with pytest.raises(Killed):
        await run(CRITIQUE, bench.records.begin(CRITIQUE, bench.critique()), context)
    assert [each.number for each in bench.done] == [1]
    before = len(bench.council.heard())
    outcome = await bench.improve(play=False)
    assert (outcome.version, outcome.usage.calls) == ("v2", 4)
    assert [each.headers["STEP"] for each in bench.council.heard()[before:]] == ["evaluate"]
    started, begun, asked = bench.told[:3]
    assert (started.event, started.resumed, begun.event, begun.number, asked.event) == (
        "started",
        True,
        "round",
        2,
        "step",
    )


@pytest.mark.slow
async def test_a_kill_after_any_line_loses_nothing_and_asks_nothing_twice(bench: Bench) -> None:
    criteria = ["c0=first", {"name": "tests", "command": "pytest -q"}]
    asked: dict[str, Any] = {
        "criteria": criteria,
        "target": "a.py",
        "checks": Program(lambda version: float(version == "v3")),
    }
    rules = (said("evaluate", 1, "hm", "hm"), said("evaluate", None, scored(0.9)))
    whole = await bench.improve(*rules, **asked)
    journal = bench.council.repo / ".swarm/discussions/k1/journal.jsonl"
    lines, calls = journal.read_bytes().splitlines(keepends=True), len(bench.council.heard())
    told = {"ended_by": whole.ended_by, "iterations": 3, "version": "v3", "usage": whole.usage}
    assert {key: getattr(whole, key) for key in told} == told
    for kept in range(1, len(lines) + 1):
        journal.write_bytes(b"".join(lines[:kept]) + lines[kept][:20] if kept < len(lines) else b"".join(lines))
        there = bench.record.standing
        before = len(bench.council.heard())
        again = await bench.improve(play=False, **asked)
        assert {key: getattr(again, key).calls if key == "usage" else getattr(again, key) for key in told} == {
            **told,
            "usage": whole.usage.calls,
        }
        assert len(bench.council.heard()) - before == calls - there.usage.calls, f"after line {kept}"
        assert [each.version for each in bench.done] == ["v1", "", "v3"]


@pytest.mark.slow
async def test_any_altered_line_is_found_out(bench: Bench) -> None:
    await bench.improve(said("evaluate", 1, scored(0.5, 0.5)), said("evaluate", 2, scored(0.9, 0.9)))
    journal = bench.council.repo / ".swarm/discussions/k1/journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    for at, line in enumerate(lines):
        for place in range(8, len(line) - 2, 41):
            altered = line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :]
            journal.write_bytes(b"".join([*lines[:at], altered, *lines[at + 1 :]]))
            with pytest.raises(SwarmError):
                bench.records.open(CRITIQUE, "k1")
        if 0 < at < len(lines) - 1:
            journal.write_bytes(b"".join([*lines[:at], *lines[at + 1 :]]))
            with pytest.raises(SwarmError):
                bench.records.open(CRITIQUE, "k1")


@dataclass
class Program:
    """Judges a version by what the test says of it."""

    says: Callable[[str], float | None]

    async def check(self, criterion: Criterion, critique: Critique, version: str) -> Score:
        score = self.says(version)
        if score is None:
            raise Unchecked(f"{criterion.name}: {critique.target} was not looked at")
        return Score(criterion=criterion.name, score=score, reason=f"OUTPUT of {version}")


async def test_programs_judge_their_criteria_and_their_output_is_told(bench: Bench) -> None:
    criteria = ["c0=first", {"name": "tests", "command": "pytest -q"}]
    verdicts = {"v1": 0.0, "v2": None, "v3": 1.0}
    rules = (said("evaluate", None, scored(0.9)),)
    outcome = await bench.improve(
        *rules, checks=Program(verdicts.__getitem__), criteria=criteria, target="a.py", iterations=3
    )
    assert [each.failed for each in bench.done] == [
        "",
        "it could not be checked: tests: a.py was not looked at",
        "it could not be checked: tests: a.py was not looked at",
    ]
    assert (outcome.best, round(outcome.mean, 9)) == (1, 0.45)
    assert "OUTPUT of v1" in bench.asked("improve")[0]
    assert "pytest -q" in bench.asked("improve")[0]
    assert "pytest" not in bench.asked("evaluate")[0]
    with pytest.raises(CouncilRefused, match="commands and gates"):
        await bench.improve(criteria=criteria, target="a.py", iterations=3)


async def test_programs_alone_need_no_evaluator(bench: Bench) -> None:
    criteria = [{"name": "tests", "command": "pytest -q"}]
    checks = Program(lambda version: float(version == "v2"))
    outcome = await bench.improve(checks=checks, criteria=criteria, target="a.py")
    assert (outcome.best, outcome.passed, outcome.usage.calls) == (2, True, 2)


async def test_what_fits_nobodys_window_is_refused_before_anybody_is_asked(bench: Bench) -> None:
    bench.council.windows["evaluator"] = 2_000
    with pytest.raises(CouncilRefused, match=r"`material` has 9,000 characters.*evaluator can read"):
        await bench.improve(material="x" * 9_000)
    assert bench.council.heard() == []


async def test_a_participant_prepares_its_text(bench: Bench) -> None:
    marks = {"correctness": 0.9, "completeness": 0.9, "clarity": 0.9}
    answer = json.dumps({"scores": marks, "text": "unknown keys do not matter"})
    bench.council.play(*VERSIONS, said("evaluate", None, answer))
    seat = Seat(id="ops", model="local/ops", system="You run it at night.")
    given: dict[str, Any] = {"iterations": 2, "tokens": 9_000, "timeout_s": 20, "whole_s": 60, "part_of": "d1"}
    text, usage = await prepared(seat, "Say it.", context=bench.context(), id="k1-ops", **given)
    begun = bench.records.begun("k1-ops")
    assert (begun.part_of, begun.request["whole_s"]) == ("d1", 60)
    assert (text, usage.calls) == ("v1", 2)
    (request,) = bench.council.heard(step="generate", participant="ops")
    assert "You run it at night." in str(request.messages[0]["content"])
    assert request.body["model"] == "ops"


async def test_an_evaluator_submits_its_scores_wrong_and_then_right(bench: Bench) -> None:
    def submits(**given: Any) -> dict[str, Any]:
        return {"tool_calls": [{"name": "submit_answer", "arguments": given}]}

    wrong = submits(scores=[{"criterion": "c0", "score": "0.9"}, {"criterion": "c1", "score": 1}])
    right = submits(scores=[{"criterion": "c0", "score": 0.9}, {"criterion": "c1", "score": 1}], suggestions=["more"])
    outcome = await bench.improve(said("evaluate", None, wrong, right))
    assert (outcome.passed, outcome.version, round(outcome.mean, 9)) == (True, "v1", 0.95)
    assert bench.done[0].evaluation
    assert bench.done[0].evaluation.suggestions == ("more",)
    told = str(bench.council.heard(step="evaluate")[1].messages[-1]["content"])
    assert 'The score of `c0` is no number: "0.9".' in told
