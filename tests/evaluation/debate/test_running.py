"""The arms with models of known accuracy, in this process: what is found where the truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.evaluation.debate.simulated import Simulated, Speaker, ballot, items, judges, seated_at

from swarmgate.config.council import Council
from swarmgate.errors import BudgetExhausted, EndpointFailed
from swarmgate.evaluation.debate.arms import Arm, Setup
from swarmgate.evaluation.debate.decision import decide
from swarmgate.evaluation.debate.running import Run, run
from swarmgate.evaluation.debate.statistics import Comparison, Judgement, compare, rates
from swarmgate.llm.model import CallFailed, ModelReply, ModelRequest

BOTH = (Arm.PARALLEL, Arm.DEBATE)


async def ran(model: Simulated, folder: Path, number: int, **setup: object) -> Run:
    whole = Setup.model_validate({"models": (model.name,), "repeats": 1, **setup})
    return await run(items(number), whole, seated_at(model, folder), Council(), on_progress=lambda _run: None)


def of(found: Run, arm: Arm) -> list[Judgement]:
    return [each for each in found.judgements if each.arm is arm]


def compared(found: Run) -> Comparison:
    return compare(of(found, Arm.DEBATE), of(found, Arm.PARALLEL))


async def test_a_debate_that_lifts_by_twenty_points_is_found(tmp_path: Path) -> None:
    # Six ballots of accuracy 0.6 are right in 68%, of three voices of accuracy 0.8 the most in 90%.
    found = compared(await ran(Simulated(judges(0.6, 0.8)), tmp_path, 80, arms=BOTH))
    decision = decide(found)
    assert decision is not None
    assert decision.decision == "use"
    assert 0.10 < found.lift < 0.35
    assert found.p < 0.01
    assert found.equal_calls


async def test_a_debate_whose_voices_are_no_better_is_deferred(tmp_path: Path) -> None:
    for seed in range(2):
        (tmp_path / str(seed)).mkdir()
        found = compared(await ran(Simulated(judges(0.75, 0.75, seed=seed)), tmp_path / str(seed), 40, arms=BOTH))
        decision = decide(found)
        assert decision is not None
        assert decision.decision == "defer"


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
    single, parallel, debate = (rates(arm, of(found, arm)) for arm in Arm)
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


async def test_an_empty_budget_ends_the_run_with_whole_pairs(tmp_path: Path) -> None:
    model = Ending(judges(0.7, 0.7), BudgetExhausted("used up"), 60)
    found = await ran(model, tmp_path, 20)
    assert isinstance(found.stopped, BudgetExhausted)
    assert 0 < found.done < found.planned == 20
    assert len(found.judgements) == 3 * found.done
    assert sum(model.asked.values()) == 60
    again = Simulated(judges(0.7, 0.7))
    whole = await ran(again, tmp_path, 20)
    assert whole.stopped is None
    assert sum(again.asked.values()) == 20 * 13 - 60, "what was answered is not asked again"
    (tmp_path / "fresh").mkdir()
    fresh = await ran(Simulated(judges(0.7, 0.7)), tmp_path / "fresh", 20)
    assert [each.approved for each in whole.judgements] == [each.approved for each in fresh.judgements]


async def test_an_endpoint_that_is_down_is_not_measured(tmp_path: Path) -> None:
    found = await ran(Ending(judges(0.7, 0.7), CallFailed("connection refused"), 0), tmp_path, 20)
    assert isinstance(found.stopped, EndpointFailed)
    assert "connection refused" in found.stopped.message
    assert found.done < 5


async def test_a_second_run_asks_nothing_and_finds_the_same(tmp_path: Path) -> None:
    first, second = Simulated(judges(0.6, 0.8)), Simulated(judges(0.6, 0.8))
    one = await ran(first, tmp_path, 6, repeats=2)
    other = await ran(second, tmp_path, 6, repeats=2)
    assert sum(first.asked.values()) == 6 * 2 * 13
    assert sum(second.asked.values()) == 0
    assert one.judgements == other.judgements
