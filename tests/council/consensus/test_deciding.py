from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.council.consensus.conftest import NAMES, Deciding, facilitates, says, stance

from swarmgate.council.consensus.deciding import Prepared
from swarmgate.council.consensus.outcome import manifest_of, record_of
from swarmgate.council.consensus.page import record_lines
from swarmgate.domain.consensus import Decision, DecisionRound, DecisionSeat
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilFailed, CouncilRefused, LedgerError, NoUsableReply

GOLDEN = Path(__file__).parent / "golden"
OPTIONS = ("SQLite", "Postgres", "Redis")

YES, NO, ABSTAINS = stance("agree", 0.8), stance("disagree", 0.2), stance("abstain", 0.5)

HANGS = {"fault": {"kind": "hang"}}


def ballot(key: str, *options: str) -> str:
    return f"Because.\n{json.dumps({key: options})}"


STRATEGIES: list[tuple[str, dict[str, Any], tuple[str, str, str], bool, str]] = [
    ("unanimous", {}, (YES, YES, YES), True, "all 3 agree, nobody below 0.80"),
    ("unanimous", {}, (YES, NO, YES), False, "bob did not agree"),
    ("unanimous", {"threshold": 0.9}, (YES, YES, YES), False, "ann, bob, cy agreed below 0.90"),
    ("majority", {}, (YES, NO, YES), True, "2 of 3 agree"),
    ("majority", {}, (YES, ABSTAINS, NO), False, "1 of 3 agree"),
    ("supermajority", {}, (YES, YES, NO), True, "2 of 3 agree"),
    ("supermajority", {"threshold": 0.75}, (YES, YES, NO), False, "it takes 75.0%"),
    ("weighted", {"threshold": 0.6}, (YES, NO, YES), True, "the mean by weight is 0.600"),
    ("weighted", {"weights": (1, 0.5, 0.25)}, (YES, NO, YES), False, "the mean by weight is 0.629; it takes 0.700"),
    ("facilitator", {}, (NO, YES, NO), True, "bob decides: agree"),
    ("facilitator", {}, (YES, NO, YES), False, "bob decides: disagree"),
    (
        "approval",
        {"options": OPTIONS},
        (ballot("approves", "SQLite"), ballot("approves", "SQLite", "Redis"), ballot("approves")),
        True,
        "SQLite",
    ),
    (
        "approval",
        {"options": OPTIONS},
        (ballot("approves", "SQLite"), ballot("approves", "Redis"), ballot("approves")),
        False,
        "a tie at the top",
    ),
    (
        "ranked",
        {"options": OPTIONS},
        (ballot("ranking", "A", "B"), ballot("ranking", "Redis", "B"), ballot("ranking", "B", "A")),
        False,
        "a tie",
    ),
    (
        "ranked",
        {"options": OPTIONS},
        (ballot("ranking", "A"), ballot("ranking", "A", "B"), ballot("ranking", "B", "A")),
        True,
        "SQLite is first on 2 of 3",
    ),
]


@pytest.mark.slow
async def test_each_strategy_from_the_question_to_the_page(deciding: Deciding) -> None:
    cases = [(f"c{at}", *case) for at, case in enumerate(STRATEGIES)]  # one server for all: who speaks says which case
    deciding.play(
        *(
            says(f"{name}-{who}", each)
            for name, _, _, answers, _, _ in cases
            for who, each in zip(NAMES, answers, strict=True)
        )
    )
    for name, strategy, more, _, consensus, why in cases:
        weights = more.get("weights", (1, 1, 1))
        seats = [{"id": f"{name}-{who}", "weight": each} for who, each in zip(NAMES, weights, strict=True)]
        chair = {"facilitator": f"{name}-bob"} if strategy == "facilitator" else {}
        given = {key: each for key, each in more.items() if key != "weights"} | chair
        outcome = await deciding.decide(deciding.decision(*seats, id=name, strategy=strategy, rounds=1, **given))
        case = f"{name} {strategy} {outcome}"
        assert (outcome.consensus, outcome.ended_by) == (consensus, "consensus" if consensus else "rounds"), case
        assert outcome.count is not None
        assert why in outcome.count.why.replace(f"{name}-", ""), case
        assert bool(outcome.decided) is consensus, case
        assert outcome.choice == ("SQLite" if consensus and "options" in more else ""), case
        page = (deciding.folder / name / "artifacts/outcome.md").read_text()
        assert page.splitlines()[4].startswith("CONSENSUS  (1" if consensus else "NO CONSENSUS  (1"), case
        assert outcome.count.why in page, case
    assert deciding.asked(step="contribute") == 3 * len(cases)


async def test_the_page_of_a_decision_of_two_rounds(deciding: Deciding) -> None:
    def costs(text: str) -> dict[str, Any]:
        return {"text": text, "usage": {"prompt_tokens": 100, "completion_tokens": 10}}

    deciding.play(
        says("ann", costs(YES)),
        says("bob", costs(NO), number=1),
        says("cy", costs("85%"), costs("I do not agree"), number=1),
        says("bob", costs(stance("agree", 0.6, prose=f"# No\n<b>{'so ' * 400}</b>")), number=2),
        says("cy", costs(stance("agree", 0.7)), number=2),
        facilitates(costs('{"proposal": "We do it, in round {{round}}.\\nSlowly.", "openPoints": ["who pays"]}')),
    )
    await deciding.decide(deciding.decision(strategy="unanimous"))
    files = {path.name: path for path in (deciding.folder / "d1/artifacts").iterdir()}
    assert set(files) == {"outcome.md"}
    page = re.sub(r"[\d.]+ s$", "N s", files["outcome.md"].read_text(), flags=re.MULTILINE)
    assert page.replace("so " * 400, "SO ") == (GOLDEN / "outcome.md").read_text()
    (shown,) = (line for line in record_lines(record_of(deciding.records, "d1")) if "<b>so" in line)
    assert shown.endswith("so ... (1,212 characters)")


async def test_a_round_is_blind_and_the_next_one_hears_all_of_it(deciding: Deciding) -> None:
    deciding.play(
        says("bob", stance("disagree", 0.1, prose="BOB-SAYS: it breaks."), number=1), says("cy", NO, number=1)
    )
    seats: list[Any] = [
        "ann",
        {"id": "bob", "role": "operator", "perspective": "You keep it running.", "system": "SYS-BOB"},
        "cy",
    ]
    outcome = await deciding.decide(deciding.decision(*seats, material="THE-PLAN", strategy="majority"))
    assert (outcome.rounds, outcome.consensus, outcome.decided) == (2, True, "We do it, in round 2.")
    assert outcome.open_points == ("who pays",)
    assert outcome.usage.calls == 8
    first, second = deciding.brief("bob", 1), deciding.brief("bob", 2)
    assert ("THE-PLAN" in first, "You keep it running." in first, "operator" in first) == (True, True, True)
    assert "SYS-BOB" in str(deciding.council.heard(participant="bob")[0].messages[0]["content"])
    assert "BOB-SAYS" not in "".join(deciding.brief(who, 1) for who in NAMES)
    assert ("| BOB-SAYS: it breaks." in second, "## The proposal" in second) == (True, True)
    assert "We do it, in round 1." in second
    assert "bob: disagrees, 0.10" in deciding.brief("ann", 2)
    held = deciding.rounds()
    assert [each.proposal for each in held] == ["Do we do it?", "We do it, in round 1."]
    assert [each.id for each in held[1].contributions] == ["r2-msg-001", "r2-msg-002", "r2-msg-003"]
    assert "Another round follows" in deciding.brief("facilitator", 1, "facilitate")
    one = ["round", "step", *["contribution"] * 3, "step", "contribution", "round_completed"]
    assert deciding.told() == ["started", *one, *one, "converged", "completed"]


async def test_what_does_not_move_ends_it_honestly(deciding: Deciding) -> None:
    deciding.play(says("bob", NO), says("cy", ABSTAINS), facilitates("no json", "none again", round="1"))
    outcome = await deciding.decide(deciding.decision(rounds=5))
    assert (outcome.consensus, outcome.ended_by, outcome.rounds, outcome.decided) == (False, "convergence", 2, "")
    assert outcome.proposed == "We do it, in round 2."
    first, second = deciding.rounds()
    assert first.synthesis is not None
    assert "asked twice" in first.synthesis.failed
    assert second.proposal == "Do we do it?"  # a facilitator that fails leaves the proposal
    assert second.converged
    assert "made no proposal, the earlier one stays" in (deciding.folder / "d1/artifacts/outcome.md").read_text()


async def test_who_gives_no_typed_answer_is_asked_once_more_and_then_excluded(deciding: Deciding) -> None:
    deciding.play(says("bob", "I do not agree", YES), says("cy", '{"agreement": "85%", "stand": "agree"}', "1/10"))
    outcome = await deciding.decide(deciding.decision(strategy="unanimous"))
    assert outcome.consensus
    assert list(outcome.excluded) == ["cy"]
    assert "asked twice" in outcome.excluded["cy"]
    assert outcome.count is not None
    assert (outcome.count.agree, outcome.count.excluded) == (2, 1)
    again = deciding.council.heard(participant="cy")[1].messages[-1]["content"]
    assert '`agreement` is "85%": it is a JSON number from 0 to 1' in str(again)
    assert "- cy: excluded: asked twice" in (deciding.folder / "d1/artifacts/outcome.md").read_text()


async def test_all_excluded_is_a_failure_and_the_round_is_asked_anew(deciding: Deciding) -> None:
    deciding.play(says(None, "85%"))
    with pytest.raises(CouncilFailed, match="all 3 participants failed in round 1: asked twice"):
        await deciding.decide(deciding.decision())
    there = deciding.records.manifest("d1")
    assert (there.status, there.usage.calls) == ("failed", 6)
    assert deciding.told()[-1] == "error"
    deciding.play()
    outcome = await deciding.decide(deciding.decision())
    assert (outcome.consensus, outcome.usage.calls) == (True, 6 + 4)  # what was asked in vain counts too
    assert deciding.records.manifest("d1").status == "complete"


async def test_a_quorum_is_half_of_all_and_such_a_record_answers_no_other_request(deciding: Deciding) -> None:
    deciding.play(says("bob", "1/10"), says("cy", "Agreed."))
    decision = deciding.decision(rounds=1)
    begun = manifest_of(decision).model_copy(update={"request_hash": "the-hash"})
    outcome = await deciding.decide(decision, manifest=begun)
    assert (outcome.consensus, outcome.ended_by, list(outcome.excluded)) == (False, "rounds", ["bob", "cy"])
    assert outcome.count is not None
    assert outcome.count.why.startswith("only 1 of 3 count, and a consensus needs 2 of them; 1 of 1 agree")
    assert "only 1 of 3 count" in (deciding.folder / "d1/artifacts/outcome.md").read_text()
    assert deciding.records.manifest("d1").request_hash == ""
    assert deciding.records.find("decision", "the-hash") == ""
    deciding.play()
    again = deciding.decision(rounds=1, id="d2")
    await deciding.decide(again, manifest=manifest_of(again).model_copy(update={"request_hash": "the-hash"}))
    assert deciding.records.find("decision", "the-hash") == "d2"


async def test_the_chair_of_the_strategy_facilitator_takes_part_and_sums_up(deciding: Deciding) -> None:
    deciding.play(says("bob", YES), says(None, NO))
    outcome = await deciding.decide(deciding.decision(strategy="facilitator", facilitator="bob"))
    assert (outcome.consensus, deciding.asked(participant="bob", step="facilitate")) == (True, 1)
    deciding.play(says("bob", "what?"), says(None, YES))
    decision = deciding.decision(strategy="facilitator", facilitator="bob", rounds=1, id="d2")
    excluded = await deciding.decide(decision)
    assert excluded.count is not None
    assert (excluded.consensus, excluded.count.why) == (False, "bob, who decides, said nothing that counts")


# --- going on ---


async def test_what_is_finished_is_given_at_once(deciding: Deciding) -> None:
    deciding.play()
    outcome = await deciding.decide(deciding.decision())
    before = deciding.asked(role="participant")
    assert await deciding.decide(deciding.decision()) == outcome
    assert deciding.asked(role="participant") == before
    with pytest.raises(CouncilRefused, match="differs in `question`"):
        await deciding.decide(deciding.decision(question="Another one?"))


async def test_it_goes_on_after_the_last_word_that_was_heard(deciding: Deciding) -> None:
    deciding.play(says("bob", NO, number=1), says("cy", NO, number=1), says("cy", HANGS, number=2))
    task = asyncio.create_task(deciding.decide(deciding.decision()))
    for _ in range(500):
        await asyncio.sleep(0.01)
        if sum(each.event == "contribution" for each in deciding.events) == 6:  # round 1, and two of round 2
            break
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    deciding.events.clear()
    deciding.play()
    outcome = await deciding.decide(deciding.decision())
    assert (outcome.rounds, outcome.consensus) == (2, True)
    assert deciding.asked(step="contribute") == 1  # only cy, on a new server
    assert outcome.usage.calls == 8
    assert deciding.told()[:3] == ["started", "round", "step"]


async def test_killed_between_the_last_round_and_the_outcome(deciding: Deciding) -> None:
    deciding.play()
    decision = deciding.decision()
    outcome = await deciding.decide(decision)
    kept = deciding.rounds()
    again = deciding.decision(id="d2")
    deciding.records.begin(manifest_of(again))
    deciding.records.keep_round("d2", 1, kept[0])
    before = deciding.asked(role="participant")
    assert await deciding.decide(again) == outcome.model_copy(update={"id": "d2"})
    assert deciding.asked(role="participant") == before


async def test_a_round_that_was_edited_by_hand_is_refused_by_name(deciding: Deciding) -> None:
    deciding.play()
    await deciding.decide(deciding.decision())
    place = deciding.folder / "d1/rounds/001.json"
    place.write_text(place.read_text().replace("0.8", "0.9"))
    with pytest.raises(LedgerError, match=r"rounds/001\.json"):
        record_of(deciding.records, "d1")


# --- bounds ---


@pytest.mark.slow
async def test_the_time_of_the_sitting_holds_inside_of_a_round(deciding: Deciding) -> None:
    deciding.play(says("bob", NO, number=1), says("cy", NO, number=1), says("cy", HANGS, number=2))
    outcome = await deciding.decide(deciding.decision(whole_s=1))
    assert (outcome.ended_by, outcome.consensus, outcome.rounds, outcome.decided) == ("timeout", False, 1, "")
    assert outcome.seconds < 15
    record = record_of(deciding.records, "d1")
    assert (record.status, record.outcome) == ("paused", outcome)
    assert deciding.records.manifest("d1").usage.calls == 6  # 4 in round 1, 2 in the one that was not whole
    deciding.play()
    later = await deciding.decide(deciding.decision(whole_s=1))
    assert (later.consensus, later.rounds, deciding.asked(step="contribute")) == (True, 2, 1)


@pytest.mark.slow
async def test_a_facilitator_that_is_late_does_not_take_the_round_with_it(deciding: Deciding) -> None:
    deciding.play(facilitates(HANGS))
    outcome = await deciding.decide(deciding.decision(whole_s=1))
    assert (outcome.consensus, outcome.ended_by, outcome.decided) == (True, "consensus", "Do we do it?")
    (held,) = deciding.rounds()
    assert held.synthesis is not None
    assert held.synthesis.failed == "the time of the whole decision was up"


@pytest.mark.slow
async def test_one_voice_that_takes_too_long_is_excluded(deciding: Deciding) -> None:
    deciding.play(says("cy", HANGS))
    outcome = await deciding.decide(deciding.decision(timeout_s=1))
    assert (outcome.consensus, list(outcome.excluded)) == (True, ["cy"])


async def test_what_fits_nobody_s_window_is_refused_before_anybody_is_asked(deciding: Deciding) -> None:
    deciding.play()
    deciding.council.windows["bob"] = 8_000
    with pytest.raises(CouncilRefused, match="participant bob can read 19,200"):
        await deciding.decide(deciding.decision(material="x" * 15_000))
    assert deciding.asked(role="participant") == 0
    assert deciding.records.ids() == ()


# --- preparations ---


async def test_a_preparation_is_made_once_and_stands_in_its_own_brief_alone(deciding: Deciding) -> None:
    asked: list[tuple[str, int]] = []

    async def prepare(seat: DecisionSeat, decision: Decision, number: int) -> Prepared:
        asked.append((seat.id, number))
        return Prepared("I-PREPARED-THIS", f"{decision.id}.{seat.id}", Usage(calls=5))

    deciding.play(says("bob", NO, number=1), says("cy", NO, number=1))
    seats: list[Any] = [{"id": "ann", "discussion": "lightweight"}, "bob", "cy"]
    outcome = await deciding.decide(deciding.decision(*seats), prepare)
    assert asked == [("ann", 1)]
    for number in (1, 2):
        assert "## Your preparation" in deciding.brief("ann", number)
        assert "I-PREPARED-THIS" in deciding.brief("ann", number)
        assert "I-PREPARED-THIS" not in deciding.brief("bob", number)
    held: tuple[DecisionRound, ...] = deciding.rounds()
    assert [each.contributions[0].prepared for each in held] == ["d1.ann", "d1.ann"]
    assert [each.contributions[0].usage.calls for each in held] == [6, 1]
    assert outcome.usage.calls == 13


async def test_what_a_failed_preparation_took_counts_once(deciding: Deciding) -> None:
    async def prepare(seat: DecisionSeat, decision: Decision, number: int) -> Prepared:
        took = Usage(calls=3 * number, completion_tokens=30 * number)  # of its record, which is taken up again
        name = f"{decision.id}.{seat.id}"
        return Prepared("ready", name, took) if number > 1 else Prepared(usage=took, failed="no version")

    deciding.play(says("bob", NO, number=1))
    outcome = await deciding.decide(deciding.decision("ann", "bob", {"id": "cy", "critique": 1}), prepare)
    first, second = (held.contributions[2] for held in deciding.rounds())
    assert (first.excluded, first.prepared, first.usage.calls) == ("its preparation failed: no version", "", 3)
    assert (second.prepared, second.preparing.calls, second.usage.calls) == ("d1.cy", 3, 4)
    assert outcome.usage.calls == 2 + 3 + 1 + 3 + 3 + 1


async def test_who_cannot_prepare_is_excluded_and_prepares_in_the_next_round(deciding: Deciding) -> None:
    async def prepare(seat: DecisionSeat, decision: Decision, number: int) -> Prepared:
        if number == 1:
            raise NoUsableReply("no version could be judged")
        return Prepared("ready", f"{decision.id}.{seat.id}")

    deciding.play(says("bob", NO, number=1))
    outcome = await deciding.decide(deciding.decision("ann", "bob", {"id": "cy", "critique": 1}), prepare)
    assert (outcome.consensus, outcome.rounds) == (True, 2)
    assert deciding.rounds()[0].contributions[2].excluded == "its preparation failed: no version could be judged"
    assert deciding.rounds()[1].contributions[2].prepared == "d1.cy"


def submits(who: str, *answers: dict[str, Any]) -> dict[str, Any]:
    """What a participant submits, call by call; a model without tools has to spell the calls."""
    replies = [{"tool_calls": [{"name": "submit_answer", "arguments": each}]} for each in answers]
    return says(who, *replies)


@pytest.mark.parametrize("lacks", [(), ("tools",)], ids=["tools", "no-tools"])
async def test_a_voice_submits_its_answer_wrong_and_then_right(deciding: Deciding, lacks: tuple[str, ...]) -> None:
    deciding.council.play(
        submits(
            "ann", {"text": "I looked.", "stand": "agree"}, {"text": "I looked.", "agreement": 0.9, "stand": "agree"}
        ),
        submits(
            "bob",
            {"text": "Fine.", "agreement": 0.1, "stand": "agree"},
            {"text": "No.", "agreement": 0.1, "stand": "disagree"},
        ),
        says("cy", stance("agree", 0.8)),
        facilitates(
            {"tool_calls": [{"name": "submit_answer", "arguments": {"proposal": "Do it.", "openPoints": "who pays"}}]}
        ),
        lacks=lacks,
    )
    outcome = await deciding.decide(deciding.decision(strategy="majority", rounds=1))
    (held,) = deciding.rounds()
    assert held.synthesis
    ann, bob, cy = held.contributions
    assert outcome.consensus
    assert [(each.stand, each.agreement, each.excluded) for each in held.contributions] == [
        ("agree", 0.9, ""),
        ("disagree", 0.1, ""),
        ("agree", 0.8, ""),
    ]
    assert (ann.text, bob.text) == ("I looked.", "No.")
    assert cy.text.startswith("I looked at it.\n```json")
    assert (held.synthesis.text, held.synthesis.open_points) == ("Do it.", ("who pays",))
    told = [str(deciding.council.heard(participant=who)[-1].messages[-1]["content"]) for who in ("ann", "bob")]
    assert "`agreement` is missing" in told[0]
    assert "that is a contradiction" in told[1]
    offered = {each.tools for each in deciding.council.heard(participant="ann") if each.tools}
    assert all("submit_answer" in each for each in offered)
