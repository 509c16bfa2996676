"""Tests the arms of the debate experiment with simulated models of known accuracy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.evaluation.debate.simulated import Simulated, Speaker, ballot, items, judges, seated_at

from swarmgate.config.council import Council
from swarmgate.errors import BudgetExhausted, EndpointFailed, UsageError
from swarmgate.evaluation.debate.cache import Meter
from swarmgate.evaluation.debate.decision import decide
from swarmgate.evaluation.debate.experiment_arms import Arm, Setup
from swarmgate.evaluation.debate.fixtures import load
from swarmgate.evaluation.debate.participants import ExperimentContexts
from swarmgate.evaluation.debate.runs import Run, run
from swarmgate.evaluation.debate.statistics import Comparison, Judgement, compare, rates
from swarmgate.llm.model import CallFailed, ModelReply, ModelRequest

BOTH = (Arm.PARALLEL, Arm.DEBATE)


async def ran(model: Simulated, folder: Path, number: int, **setup: object) -> Run:
    whole = Setup.model_validate({"models": (model.name,), "repeats": 1, **setup})
    return await run(items(number), whole, seated_at(model, folder), Council(), on_progress=lambda _run: None)


def of(found: Run, arm: Arm) -> list[Judgement]:
    return [each for each in found.judgements if each.arm is arm]


def compared(found: Run) -> Comparison:
    return compare(of(found, Arm.DEBATE), of(found, Arm.PARALLEL), resamples=999)


@pytest.mark.slow
async def test_a_debate_that_lifts_by_twenty_points_is_found(tmp_path: Path) -> None:
    # Six ballots of accuracy 0.6 are right in 68%, of three voices of accuracy 0.8 the most in 90%.
    found = compared(await ran(Simulated(judges(0.6, 0.8)), tmp_path, 60, arms=BOTH))
    decision = decide(found)
    assert decision is not None
    assert decision.decision == "use"
    assert 0.10 < found.lift < 0.35
    assert found.p < 0.02
    assert found.equal_calls


@pytest.mark.slow
async def test_a_debate_whose_voices_are_no_better_is_deferred(tmp_path: Path) -> None:
    decision = decide(compared(await ran(Simulated(judges(0.75, 0.75)), tmp_path, 40, arms=BOTH)))
    assert decision is not None
    assert decision.decision == "defer"


@pytest.mark.slow
@pytest.mark.parametrize(("participants", "rounds"), [(2, 2), (3, 2), (3, 3), (4, 1)])
async def test_calls_are_equal(tmp_path: Path, participants: int, rounds: int) -> None:
    def speak(headers: Mapping[str, str], _brief: str) -> str:
        last = headers["ROUND"] == str(rounds) or headers["PARTICIPANT"].startswith("reviewer")
        own = sum(map(ord, headers["PARTICIPANT"])) * int(headers["ROUND"])
        return ballot("APPROVE") if last else f"Claim {own:b} is quite unlike {own * 977:x}."

    model = Simulated(speak)
    found = await ran(model, tmp_path, 4, participants=participants, rounds=rounds, repeats=2)
    for item in {each.item for each in found.judgements}:
        for repeat in (1, 2):
            own = {each.arm: each for each in found.judgements if (each.item, each.repeat) == (item, repeat)}
            assert own[Arm.DEBATE].calls == own[Arm.PARALLEL].calls == participants * rounds
            assert own[Arm.SINGLE].calls == 1
    ballots = sum(count for (who, _), count in model.asked.items() if who.startswith("reviewer"))
    assert ballots == 8 * participants * rounds + 8
    assert sum(model.asked.values()) == 2 * 8 * participants * rounds + 8


async def test_a_debate_that_converges_is_compared_with_as_many_ballots_fewer(tmp_path: Path) -> None:
    """Every voice says the same in round 1 and 2: the third round is the vote, of five."""

    def speak(headers: Mapping[str, str], brief: str) -> str:
        asked = "Vote now" in brief or headers["PARTICIPANT"].startswith("reviewer")
        return ballot("REJECT") if asked else "The table has no index."

    found = await ran(Simulated(speak), tmp_path, 2, participants=2, rounds=5, arms=BOTH)
    assert {each.turns for each in found.judgements} == {6}
    assert compared(found).equal_calls


async def test_ballots_that_nobody_can_read_are_counted_and_reject(tmp_path: Path) -> None:
    def speak(headers: Mapping[str, str], _brief: str) -> str:
        return "I rather like it." if headers["PARTICIPANT"] in {"reviewer-1", "challenger"} else ballot("APPROVE")

    found = await ran(Simulated(speak), tmp_path, 4, participants=3, rounds=1)
    single, parallel, debate = (rates(arm, of(found, arm), resamples=50) for arm in Arm)
    assert (single.unread, parallel.unread, debate.unread) == (4, 4, 4)
    assert single.good_approved == 0.0, "no verdict is no approval"
    assert single.undecided == 4
    assert parallel.good_approved == debate.good_approved == 1.0, "two of three approve"
    assert single.calls == 8, "a ballot that cannot be read is asked for once more"


async def test_a_debate_in_which_nobody_speaks_rejects_and_is_on_record(tmp_path: Path) -> None:
    def speak(headers: Mapping[str, str], _brief: str) -> str:
        return ballot("APPROVE") if headers["PARTICIPANT"].startswith("reviewer") else "Hm."

    found = await ran(Simulated(speak), tmp_path, 2, participants=2, rounds=1, arms=BOTH)
    for each in of(found, Arm.DEBATE):
        assert not each.approved
        assert "all 2 voices failed" in each.failed
        assert each.tally.failed == 2
    assert {each.turns for each in found.judgements} == {2}


async def test_a_debate_that_fails_in_its_vote_is_compared_with_the_ballots_of_all_its_rounds(tmp_path: Path) -> None:
    def speak(headers: Mapping[str, str], _brief: str) -> str:
        who, number = headers["PARTICIPANT"], headers["ROUND"]
        return ballot("APPROVE") if who.startswith("reviewer") else "Hm." if number == "2" else f"{who} doubts it."

    found = await ran(Simulated(speak), tmp_path, 2, participants=2, rounds=2, arms=BOTH)
    assert {each.failed != "" for each in of(found, Arm.DEBATE)} == {True}
    assert {(each.arm, each.turns) for each in found.judgements} == {(Arm.PARALLEL, 4), (Arm.DEBATE, 4)}
    assert {each.tally.approve for each in of(found, Arm.PARALLEL)} == {4}


@pytest.mark.parametrize(
    ("confidences", "approved"), [((0.9, 0.2), True), ((0.2, 0.9), False), ((0.7, 0.7), False), ((1.0, None), False)]
)
async def test_a_tie_goes_by_confidence_in_every_arm_alike(
    tmp_path: Path, confidences: tuple[float, float | None], *, approved: bool
) -> None:
    """Of two voices one approves; the other one rejects, or gives no ballot: then it is against with all confidence."""

    def speak(headers: Mapping[str, str], _brief: str) -> str:
        sure, unsure = confidences
        if headers["PARTICIPANT"] in {"advocate", "reviewer-1"}:
            return ballot("APPROVE", sure)
        return "Hm." if unsure is None else ballot("REJECT", unsure)

    found = await ran(Simulated(speak), tmp_path, 2, participants=2, rounds=1, arms=BOTH)
    assert {(each.approved, each.tied) for each in found.judgements} == {(approved, True)}
    assert {rates(arm, of(found, arm), resamples=50).tied for arm in BOTH} == {2}


@pytest.mark.slow
async def test_models_that_know_nothing_lift_nothing(tmp_path: Path) -> None:
    """One always rejects, one always approves, over designs as they are shipped: who judges says nothing of them."""
    known = load(Path(__file__).parents[3] / "examples/eval/designs.jsonl").items
    voices = {name: Simulated(judge, name) for name, judge in (("l/no", says("REJECT")), ("l/yes", says("APPROVE")))}

    def seated(arm: Arm, *, repeat: int, seed: int, meter: Meter) -> ExperimentContexts:
        by_model = {
            name: seated_at(model, tmp_path)(arm, repeat=repeat, seed=seed, meter=meter)
            for name, model in voices.items()
        }
        return ExperimentContexts(lambda seat: by_model[seat.model].agent(seat))

    setup = Setup(models=tuple(voices), repeats=1, limit=24)
    found = await run(known, setup, seated, Council(), on_progress=lambda _run: None)
    assert {arm: rates(arm, of(found, arm), resamples=50).accuracy for arm in Arm} == dict.fromkeys(Arm, 0.5)
    assert compared(found).lift == 0
    assert voices["l/no"].asked.total() == voices["l/yes"].asked.total() == 24 * 13 / 2


def says(vote: str) -> Speaker:
    def speak(headers: Mapping[str, str], brief: str) -> str:
        new = headers["ROUND"] == "1" and not headers["PARTICIPANT"].startswith("reviewer")
        return f"{headers['PARTICIPANT']} has read {len(brief)} characters." if new else ballot(vote)

    return speak


class Hanging(Simulated):
    """Some calls hang: those whose number `hang` names."""

    def __init__(self, speak: Speaker, hang: Callable[[int], bool]) -> None:
        super().__init__(speak)
        self._hang = hang

    async def complete(self, request: ModelRequest) -> ModelReply:
        reply = await super().complete(request)
        if self._hang(self.asked.total()):
            await asyncio.sleep(60)
        return reply


async def hung(model: Simulated, folder: Path, number: int, patience: float = 0.5) -> Run:
    setup = Setup(models=(model.name,), repeats=1, participants=2, rounds=1, arms=BOTH)
    seated = seated_at(model, folder, wall_time_s=patience)
    return await run(items(number), setup, seated, Council(), on_progress=lambda _run: None)


@pytest.mark.slow
async def test_calls_without_an_answer_in_time_are_refused_and_asked_again(tmp_path: Path) -> None:
    first = Hanging(judges(1.0, 1.0), lambda number: number in {2, 9})
    found = await hung(first, tmp_path, 4)
    assert sum(each.refused for each in found.judgements) == sum(each.tally.failed for each in found.judgements) == 2
    second = Simulated(judges(1.0, 1.0))
    again = await hung(second, tmp_path, 4, patience=60)
    assert second.asked.total() == 2, "those alone, and openly"
    assert sum(each.refused for each in again.judgements) == 0
    assert all(each.right for each in again.judgements)


@pytest.mark.slow
async def test_an_endpoint_that_hangs_is_down_and_not_measured(tmp_path: Path) -> None:
    found = await hung(Hanging(judges(1.0, 1.0), lambda _number: True), tmp_path, 12)
    assert isinstance(found.stopped, EndpointFailed)
    assert "no answer in the time of a voice" in found.stopped.message


@pytest.mark.slow
@pytest.mark.parametrize("arms", [(Arm.SINGLE,), BOTH])
async def test_items_that_do_not_fit_are_named_before_any_call(tmp_path: Path, arms: tuple[Arm, ...]) -> None:
    known = [
        item.model_copy(update={"text": item.text + " x" * 500_000}) if item.id in {"item-2", "item-5"} else item
        for item in items(8)
    ]
    model = Simulated(judges(1.0, 1.0))
    setup = Setup(models=(model.name,), repeats=2, arms=arms)
    with pytest.raises(UsageError, match=r"do not fit: item-\d, item-\d\. item-\d: .* can read") as refused:
        await run(known, setup, seated_at(model, tmp_path), Council(), on_progress=lambda _run: None)
    assert "item-2" in refused.value.message
    assert "item-5" in refused.value.message
    assert model.asked.total() == 0
    fitting = await run(known[:2], setup, seated_at(model, tmp_path), Council(), on_progress=lambda _run: None)
    assert fitting.done == 4


async def test_an_abstention_is_for_neither_side_and_a_tie_rejects(tmp_path: Path) -> None:
    votes = {"reviewer-1": "APPROVE", "reviewer-2": "ABSTAIN", "advocate": "APPROVE", "challenger": "REJECT"}
    model = Simulated(lambda headers, _brief: ballot(votes[headers["PARTICIPANT"]]))
    found = await ran(model, tmp_path, 2, participants=2, rounds=1, arms=BOTH)
    assert {each.arm: each.approved for each in found.judgements} == {Arm.PARALLEL: True, Arm.DEBATE: False}


class Ending(Simulated):
    """Raises from the so many-th call on."""

    def __init__(self, speak: Speaker, error: Exception, after: int) -> None:
        super().__init__(speak)
        self._error, self._after = error, after

    async def complete(self, request: ModelRequest) -> ModelReply:
        if sum(self.asked.values()) >= self._after:
            raise self._error
        return await super().complete(request)


@pytest.mark.slow
async def test_an_empty_budget_ends_the_run_with_whole_pairs(tmp_path: Path) -> None:
    model = Ending(judges(0.7, 0.7), BudgetExhausted("used up"), 60)
    found = await ran(model, tmp_path, 10)
    assert isinstance(found.stopped, BudgetExhausted)
    assert 0 < found.done < found.planned == 10
    assert len(found.judgements) == 3 * found.done
    assert sum(model.asked.values()) == 60
    again = Simulated(judges(0.7, 0.7))
    whole = await ran(again, tmp_path, 10)
    assert whole.stopped is None
    assert sum(again.asked.values()) == 10 * 13 - 60, "what was answered is not asked again"
    (tmp_path / "fresh").mkdir()
    fresh = await ran(Simulated(judges(0.7, 0.7)), tmp_path / "fresh", 10)
    assert [each.approved for each in whole.judgements] == [each.approved for each in fresh.judgements]


async def test_an_endpoint_that_is_down_is_not_measured(tmp_path: Path) -> None:
    found = await ran(Ending(judges(0.7, 0.7), CallFailed("connection refused"), 0), tmp_path, 20)
    assert isinstance(found.stopped, EndpointFailed)
    assert "connection refused" in found.stopped.message
    assert found.done < 5


@pytest.mark.slow
async def test_a_second_run_asks_nothing_and_finds_the_same(tmp_path: Path) -> None:
    first, second = Simulated(judges(0.6, 0.8)), Simulated(judges(0.6, 0.8))
    one = await ran(first, tmp_path, 3, repeats=2)
    other = await ran(second, tmp_path, 3, repeats=2)
    assert sum(first.asked.values()) == 3 * 2 * 13
    assert sum(second.asked.values()) == 0
    assert one.judgements == other.judgements
