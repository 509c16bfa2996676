"""Tests the steps of orchestrations: order, conditions, failures, and resume after a kill, with records on disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarmgate.council.context import CouncilContext
from swarmgate.council.orchestration import map_reduce, parallel, sequence, step, when
from swarmgate.council.orchestration.model import Orchestration
from swarmgate.council.orchestration.results import OrchestrationOutcome, StepResult
from swarmgate.council.orchestration.rules import RULES
from swarmgate.council.orchestration.runner import PatternOutput
from swarmgate.council.orchestration.state import Ended, State, outcome_of, under_way
from swarmgate.council.orchestration.steps import ORCHESTRATION, Work
from swarmgate.council.participants.contexts import ContextFactory
from swarmgate.council.records.lifecycle import Resumed
from swarmgate.council.records.record import Record
from swarmgate.council.records.redaction import NAMES
from swarmgate.council.records.store import Records
from swarmgate.council.run import run
from swarmgate.council.views.events import CouncilEvent
from swarmgate.council.views.stream import PATTERN_EVENT
from swarmgate.domain.text.redaction import masked
from swarmgate.domain.usage import Usage
from swarmgate.errors import BudgetExhausted, CouncilFailed, SwarmError
from swarmgate.journal.documents import FileDocuments
from swarmgate.ledger.files.folder import SwarmFolder


class ScriptedRunner:
    """Implements `Runner`: answers with the text that it got; for some records it fails, or is out of budget."""

    def __init__(self, *, fails: Iterable[str] = (), spent: Iterable[str] = ()) -> None:
        self.fails, self.spent = set(fails), set(spent)
        self.asked: list[str] = []
        self.going_on = self.most = 0

    async def run(self, step: Any, record: str) -> PatternOutput:
        self.asked.append(record)
        self.going_on += 1
        self.most = max(self.most, self.going_on)
        await asyncio.sleep(0)
        self.going_on -= 1
        if record in self.spent:
            raise BudgetExhausted("the budget is used up")
        if record in self.fails:
            raise CouncilFailed("no answer")
        return PatternOutput(fields={"succeeded": 1}, text=f"<{step.text}>", record=record)

    def used(self, record: str) -> Usage:
        return Usage(calls=self.asked.count(record), prompt_tokens=10 * self.asked.count(record))


def ask(name: str = "", text: str = "Go.", **more: Any) -> Any:
    return step("ask", name, participant="p", text=text, **more)


def named(*steps: Any) -> Orchestration:
    made = sequence(*steps, id="o")
    assert isinstance(made, Orchestration)
    return made


class Place:
    """Records in a folder, and what was told of."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.records = Records(FileDocuments(SwarmFolder(root).path), clean=lambda value: value)
        self.events: list[Any] = []

    async def run(self, asked: Orchestration, runner: ScriptedRunner) -> OrchestrationOutcome:
        work, outcome = await self.session(asked, runner)
        assert outcome == work.outcome(self.record.standing.own)
        return outcome

    async def session(self, asked: Orchestration, runner: ScriptedRunner) -> tuple[Work, OrchestrationOutcome]:
        record = self.records.begin(ORCHESTRATION, asked)
        work = Work(runner, RULES.apply(replace(record.standing.own, asked=asked), Resumed()))
        tell = cast("Callable[[CouncilEvent], None]", self.events.append)
        await run(ORCHESTRATION, record, CouncilContext(cast("ContextFactory", None), self.records, tell, work))
        outcome = outcome_of(record.standing.own)
        assert outcome
        return work, outcome

    @property
    def record(self) -> Record[Orchestration, State, OrchestrationOutcome]:
        return self.records.open(ORCHESTRATION, "o")

    @property
    def journal(self) -> Path:
        return self.root / ".swarm/discussions/o/journal.jsonl"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_steps_are_done_in_order_and_at_most_so_many_at_once(place: Place) -> None:
    runner = ScriptedRunner()
    items = [f"i{number}" for number in range(7)]
    outcome = await place.run(
        named(ask("a"), map_reduce("m", items, ask("", "{item}"), ask("", "Sum."), at_once=3)), runner
    )
    assert runner.most == 3
    assert (runner.asked[0], runner.asked[-1]) == ("o.a", "o.m.reduce")
    assert sorted(runner.asked[1:-1]) == [f"o.m.{number:03d}" for number in range(1, 8)]
    assert [each.text for each in outcome.steps[1].parts[:2]] == ["<i0>", "<i1>"]
    assert outcome.steps[1].text.startswith("<Sum.\n\n## Item 1: i0\n<i0>")
    assert (outcome.usage.calls, outcome.failures, outcome.all_failed) == (9, (), False)
    assert place.record.outcome == outcome
    assert [PATTERN_EVENT.validate_json(each.model_dump_json()) for each in place.events] == place.events
    said = [each.event for each in place.events if each.event in {"started", "round", "round_completed", "completed"}]
    assert said == ["started", "round", "round_completed", "round", "round_completed", "completed"]


async def test_a_group_goes_on_with_what_is_done_and_stops_below_its_least(place: Place) -> None:
    steps = [parallel("g", ask("a"), ask("b"), ask("c")), ask("z", "After {g}.")]
    outcome = await place.run(named(*steps), ScriptedRunner(fails={"o.b"}))
    group = outcome.steps[0]
    assert (group.status, group.why) == ("done", "2/3 done: b: no answer")
    assert (outcome.failed, [each.label for each in outcome.failures]) == ("", ["b"])
    assert "## The output of `b`\n(This step failed: no answer)" in outcome.steps[1].text


async def test_what_is_done_is_not_asked_again(place: Place) -> None:
    asked = named(ask("a"), parallel("g", ask("b"), ask("c"), least=2), ask("z"))
    stopped = await place.run(asked, ScriptedRunner(fails={"o.b"}))
    assert (stopped.failed, place.record.standing.status) == ("g", "failed")
    runner = ScriptedRunner()
    outcome = await place.run(asked, runner)
    assert runner.asked == ["o.b", "o.z"]
    assert [each.status for each in outcome.steps] == ["done"] * 3
    last = ScriptedRunner()
    assert await place.run(asked, last) == outcome
    assert last.asked == []


async def test_a_used_up_budget_ends_all_and_keeps_what_is_done(place: Place) -> None:
    asked = named(map_reduce("m", ["x", "y", "z"], ask("", "{item}"), at_once=1))
    with pytest.raises(BudgetExhausted):
        await place.run(asked, ScriptedRunner(spent={"o.m.002"}))
    there, partial = place.record.standing, under_way(place.record.standing.own)
    assert (there.status, partial is not None and partial.status) == ("open", "open")
    runner = ScriptedRunner()
    await place.run(asked, runner)
    assert "o.m.001" not in runner.asked


async def test_conditions_skip_and_do_otherwise_and_say_so(place: Place, tmp_path: Path) -> None:
    runner = ScriptedRunner()
    steps = [
        ask("a"),
        when("a.succeeded", equals=0, then=ask("b"), otherwise=[ask("c"), ask("d", "See {c}.")]),
        when("c.succeeded", at_least=1, then=ask("e", "{b}")),
        when("b.succeeded", not_equals=9, then=ask("f")),
        when("b.ended", equals="skipped", then=ask("g")),
    ]
    outcome = await place.run(named(*steps), runner)
    assert runner.asked == ["o.a", "o.c", "o.d", "o.e", "o.g"]
    assert [each.status for each in outcome.steps] == ["done", "skipped", "done", "skipped", "done"]
    assert outcome.steps[1].why == "a.succeeded equals 0: that does not hold"
    assert all(each.started_at for each in outcome.steps)
    assert "(This step was skipped: a.succeeded equals 0" in outcome.steps[2].text
    failed = await Place(tmp_path / "other").run(named(*steps), ScriptedRunner(fails={"o.c"}))
    assert (failed.failed, failed.steps[-1].why) == ("b", "c: no answer")


async def test_a_failure_that_a_later_step_waits_for_does_not_stop_it(place: Place, tmp_path: Path) -> None:
    steps = [
        ask("a"),
        when("a.ended", equals="failed", then=ask("repair", "Mend it.")),
        when("a.ended", equals="done", then=ask("praise")),
        ask("z", "{a}"),
    ]
    runner = ScriptedRunner(fails={"o.a"})
    outcome = await place.run(named(*steps), runner)
    assert runner.asked == ["o.a", "o.repair", "o.z"]
    assert (outcome.failed, [each.label for each in outcome.failures]) == ("", ["a"])
    assert [each.status for each in outcome.steps] == ["failed", "done", "skipped", "done"]
    assert "(This step failed: no answer)" in outcome.steps[-1].text
    assert (place.record.standing.status, await place.run(named(*steps), ScriptedRunner())) == ("complete", outcome)
    # a test that a failure does not meet waits for none
    stopped = await Place(tmp_path / "other").run(named(steps[0], steps[2]), ScriptedRunner(fails={"o.a"}))
    assert stopped.failed == "a"


async def test_a_failure_inside_of_a_group_may_be_waited_for_too(place: Place) -> None:
    steps = [
        ask("a"),
        parallel("g", ask("b"), ask("c"), least=2),
        when("b.ended", not_equals="done", then=ask("d")),
        when(
            "a.succeeded",
            equals=0,
            then=ask("e"),
            otherwise=[ask("f"), when("f.ended", equals="failed", then=ask("h"))],
        ),
    ]
    runner = ScriptedRunner(fails={"o.b", "o.f"})
    outcome = await place.run(named(*steps), runner)
    assert runner.asked == ["o.a", "o.b", "o.c", "o.d", "o.f", "o.h"]
    assert [each.status for each in outcome.steps] == ["done", "failed", "done", "skipped"]
    assert (outcome.failed, [each.label for each in outcome.failures]) == ("", ["b", "f"])


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(fails=st.sets(st.sampled_from(["o.a", "o.b", "o.c", "o.d", "o.m.001", "o.m.002", "o.m.reduce"])))
def test_whatever_fails_first_a_resume_comes_to_the_same(
    fails: set[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place, clean = (Place(tmp_path_factory.mktemp("o")) for _ in range(2))
    asked = named(
        ask("a"),
        parallel("g", ask("b"), ask("c"), least=2),
        map_reduce("m", ["x", "y"], ask("", "{item} {a}"), ask("", "Sum {g}."), least=2),
        ask("d", "{m}"),
    )

    async def both() -> tuple[list[str], OrchestrationOutcome, OrchestrationOutcome]:
        runner = ScriptedRunner(fails=fails)
        while (await place.run(asked, runner)).failed:
            runner.fails -= set(runner.asked)
        return runner.asked, await place.run(asked, runner), await clean.run(asked, ScriptedRunner())

    names, outcome, straight = asyncio.run(both())
    assert [each.text for each in outcome.steps] == [each.text for each in straight.steps]
    assert all(names.count(name) == (2 if name in fails else 1) for name in set(names))


async def test_secrets_do_not_go_on_record_and_texts_go_on_to_the_letter(place: Place) -> None:
    place.records = Records(
        FileDocuments(SwarmFolder(place.root).path),
        clean=lambda value: masked(value, lambda text: text.replace("S3CRET", "[redacted]"), names=NAMES),
    )
    asked = named(ask("a", "Use S3CRET."), ask("z", "Say {a}."))
    work, outcome = await place.session(asked, ScriptedRunner())
    assert "S3CRET" not in place.journal.read_text()
    assert [each.text for each in outcome.steps] == ["<Use [redacted].>", "<Say the output of `a`.\n\n" + SHOWN + ">"]
    told = work.outcome(place.record.standing.own)
    assert told
    assert [each.text.count("S3CRET") for each in told.steps] == [1, 1]


SHOWN = "## The output of `a`\n<Use [redacted].>"

MIXED = named(
    ask("a"),
    parallel("g", ask("b"), ask("c"), least=2),
    map_reduce("m", ["x", "y"], ask("", "{item} {a}"), ask("", "Sum {g}."), at_once=1),
    when("a.ended", equals="failed", then=ask("n"), otherwise=[ask("e"), ask("f", "See {e}.")]),
    ask("d", "{m}"),
)


async def test_a_kill_after_any_line_loses_nothing_and_does_nothing_twice(place: Place) -> None:
    straight = ScriptedRunner()
    whole = await place.run(MIXED, straight)
    lines = place.journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 2 + len(straight.asked) + 1
    for kept in range(1, len(lines) + 1):
        torn = lines[kept][:20] if kept < len(lines) else b""
        place.journal.write_bytes(b"".join(lines[:kept]) + torn)
        runner = ScriptedRunner()
        runner.asked = straight.asked[: max(0, min(kept, len(lines) - 1) - 2)]
        before = len(runner.asked)
        again = await place.run(MIXED, runner)
        assert sorted(runner.asked) == sorted(straight.asked), f"after line {kept}"
        assert [(each.id, each.status, each.text) for each in again.steps] == [
            (each.id, each.status, each.text) for each in whole.steps
        ]
        assert (again.usage.calls, len(runner.asked) - before) == (whole.usage.calls, len(straight.asked) - before)


def test_a_step_takes_the_time_in_which_something_was_at_work(place: Place) -> None:
    """Not the night between two sessions."""

    def ended(name: str, started_at: str, seconds: float) -> Ended:
        begun = f"2026-11-22T{started_at}:00.000+00:00"
        result = StepResult(id=name, kind="ask", status="done", started_at=begun, seconds=seconds)
        return Ended(step="g", result=result)

    asked = named(parallel("g", ask("a"), ask("b"), ask("c")), when("g.done", equals=0, then=ask("z")))
    record = place.records.begin(ORCHESTRATION, asked)
    record.append([Resumed(), ended("a", "10:00", 90), ended("b", "10:01", 60), Resumed(), ended("c", "23:00", 5)])
    group, skipped = record.standing.own.steps
    assert (group.seconds, group.started_at) == (125, "2026-11-22T10:00:00.000+00:00")
    assert (skipped.status, skipped.started_at, skipped.seconds) == ("skipped", "2026-11-22T23:00:05.000+00:00", 0)


async def test_any_altered_line_is_found_out(place: Place) -> None:
    await place.run(MIXED, ScriptedRunner())
    lines = place.journal.read_bytes().splitlines(keepends=True)
    for at, line in enumerate(lines):
        for where in range(8, len(line) - 2, 41):
            altered = line[:where] + bytes([line[where] ^ 1]) + line[where + 1 :]
            place.journal.write_bytes(b"".join([*lines[:at], altered, *lines[at + 1 :]]))
            with pytest.raises(SwarmError):
                place.records.open(ORCHESTRATION, "o")
        if 0 < at < len(lines) - 1:
            place.journal.write_bytes(b"".join([*lines[:at], *lines[at + 1 :]]))
            with pytest.raises(SwarmError):
                place.records.open(ORCHESTRATION, "o")
