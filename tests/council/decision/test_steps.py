"""Tests the steps of decisions over a scripted HTTP server."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
from tests.council.decision.conftest import NAMES, Deciding, facilitates, says, stance

from swarmgate.council.decision.model import DecisionRound
from swarmgate.council.decision.steps import DECISION
from swarmgate.council.decision.view import record_lines
from swarmgate.council.views.stream import StepStarted
from swarmgate.errors import CouncilFailed, CouncilRefused, LedgerCorrupt, LedgerError

USELESS = (
    "asked twice, and both answers were of no use; the last: There is no JSON object of the asked-for form in your "
    "answer."
)
TIMES: dict[str, Any] = {"seconds": True, "usage": {"seconds"}}
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
    head, first, second = page.replace("so " * 400, "SO ").split("\n## Round ")
    assert head.splitlines() == [
        "# Do we do it?",
        "",
        "Decision d1, by unanimous: Everybody has to agree, each with a level of at least 0.50.",
        "",
        "CONSENSUS  (2 rounds; ended because there is a consensus)",
        "  all 3 agree, nobody below 0.60",
        "Decided:",
        "  > We do it, in round 2.",
        "  > Slowly.",
        "",
        "Open:",
        "  - who pays",
        "",
        "Cost: 9 calls, 990 tokens, cost unknown, N s",
    ]
    proposed = ["facilitator made of it:", "  > We do it, in round {}.", "  > Slowly.", "", "  - open: who pays"]
    said = ["  model local/plain", "  > I looked at it.", ""]
    assert first.splitlines()[:-5] == [
        "1",
        *["- ann: agrees, 0.80", *said],
        *["- bob: disagrees, 0.20", *said],
        *[f"- cy: excluded: {USELESS}", "  model local/plain", ""],
        "Count: bob did not agree",
    ]
    assert first.splitlines()[-5:] == [each.format(1) for each in proposed]
    assert second.splitlines() == [
        "2",
        *["On the proposal:", "  > We do it, in round 1.", "  > Slowly.", ""],
        *["- ann: agrees, 0.80", *said],
        *["- bob: agrees, 0.60", "  model local/plain", r"  > \# No", r"  > \<b>SO \</b>", ""],
        *["- cy: agrees, 0.70", *said],
        "Count: all 3 agree, nobody below 0.60",
        *(each.format(2) for each in proposed),
    ]
    (shown,) = (line for line in record_lines(deciding.told_of()) if "<b>so" in line)
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
    there = deciding.record().standing
    assert (there.status, there.usage.calls) == ("failed", 6)
    assert deciding.told()[-1] == "error"
    deciding.play()
    outcome = await deciding.decide(deciding.decision())
    assert (outcome.consensus, outcome.usage.calls) == (True, 6 + 4)  # what was asked in vain counts too
    assert deciding.record().standing.status == "complete"


async def test_a_quorum_is_half_of_all_and_such_a_record_answers_no_other_request(deciding: Deciding) -> None:
    deciding.play(says("bob", "1/10"), says("cy", "Agreed."))
    outcome = await deciding.decide(deciding.decision(rounds=1), request_hash="the-hash")
    assert (outcome.consensus, outcome.ended_by, list(outcome.excluded)) == (False, "rounds", ["bob", "cy"])
    assert outcome.count is not None
    assert outcome.count.why.startswith("only 1 of 3 count, and a consensus needs 2 of them; 1 of 1 agree")
    assert "only 1 of 3 count" in (deciding.folder / "d1/artifacts/outcome.md").read_text()
    assert deciding.record().standing.request_hash == ""
    assert deciding.records.find(DECISION, "the-hash") is None
    deciding.play()
    await deciding.decide(deciding.decision(rounds=1, id="d2"), request_hash="the-hash")
    found = deciding.records.find(DECISION, "the-hash")
    assert found is not None
    assert found.id == "d2"


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


@pytest.mark.parametrize("kept", range(1, 11))
async def test_killed_behind_any_line_it_comes_to_the_same_and_nobody_is_asked_twice(
    deciding: Deciding, kept: int
) -> None:
    rules = (says("bob", NO, number=1), says("cy", NO, "85%", number=1), says("cy", "85%", YES, number=2))
    deciding.play(*rules)
    outcome = await deciding.decide(deciding.decision())
    whole = deciding.rounds()
    path = deciding.folder / "d1/journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 11  # begun, resumed, 4 of each round, completed
    path.write_bytes(b"".join(lines[:kept]) + lines[kept][:40])
    said = [json.loads(each)["event"] for each in lines[:kept]]
    left = 8 - sum(each["type"] in ("spoke", "synthesised") for each in said)
    deciding.play(*rules)
    again = await deciding.decide(deciding.decision())
    assert again.model_dump(exclude=TIMES) == outcome.model_dump(exclude=TIMES)
    stands = [[each.stand for each in held.contributions] for held in deciding.rounds()]
    assert stands == [[each.stand for each in held.contributions] for held in whole]
    assert len({(each.headers["PARTICIPANT"], each.headers["ROUND"]) for each in deciding.council.heard()}) == left
    assert again.usage.calls == outcome.usage.calls
    assert (deciding.folder / "d1" / f"torn-{kept + 1}.txt").read_bytes() == lines[kept][:40]


@pytest.mark.slow
async def test_every_altered_line_is_found_out(deciding: Deciding) -> None:
    deciding.play(says("bob", NO, number=1), says("cy", NO, number=1))
    await deciding.decide(deciding.decision())
    path = deciding.folder / "d1/journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    for at, line in enumerate(lines):
        for place in range(0, len(line), len(line) // 20):
            changed = line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :]
            path.write_bytes(b"".join([*lines[:at], changed, *lines[at + 1 :]]))
            with pytest.raises((LedgerCorrupt, LedgerError, CouncilRefused)):
                deciding.record()


# --- bounds ---


@pytest.mark.slow
async def test_the_time_of_the_sitting_holds_inside_of_a_round(deciding: Deciding) -> None:
    deciding.play(says("bob", NO, number=1), says("cy", NO, number=1), says("cy", HANGS, number=2))
    outcome = await deciding.decide(deciding.decision(whole_s=1))
    assert (outcome.ended_by, outcome.consensus, outcome.rounds, outcome.decided) == ("timeout", False, 1, "")
    assert outcome.seconds < 15
    record = deciding.told_of()
    assert (record.status, record.outcome) == ("paused", outcome)
    assert outcome.usage.calls == 6  # 4 in round 1, 2 in the one that was not whole
    assert deciding.told()[-1] == "completed"
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

SCORES = {name: {"score": 0.9, "reason": "ok"} for name in ("correctness", "completeness", "clarity")}


def drafts(*replies: Any) -> list[dict[str, Any]]:
    """What the critique of a participant answers."""
    made = [{"text": each} if isinstance(each, str) else each for each in replies]
    return [
        {"match": {"role": "participant", "step": "generate"}, "replies": made},
        {
            "match": {"role": "participant", "step": "evaluate"},
            "replies": [{"text": json.dumps({"scores": SCORES, "suggestions": []})}],
        },
    ]


async def test_a_preparation_is_made_once_and_stands_in_its_own_brief_alone(deciding: Deciding) -> None:
    deciding.play(says("bob", NO, number=1), says("cy", NO, number=1), *drafts("I-PREPARED-THIS"))
    outcome = await deciding.decide(deciding.decision({"id": "ann", "critique": 1}, "bob", "cy"))
    assert deciding.asked(step="generate") == 1
    for number in (1, 2):
        assert "## Your preparation" in deciding.brief("ann", number)
        assert "I-PREPARED-THIS" in deciding.brief("ann", number)
        assert "I-PREPARED-THIS" not in deciding.brief("bob", number)
    held: tuple[DecisionRound, ...] = deciding.rounds()
    assert [each.contributions[0].prepared for each in held] == ["d1.ann", "d1.ann"]
    assert [each.contributions[0].usage.calls for each in held] == [3, 1]
    assert outcome.usage.calls == 8 + 2
    steps = [(each.step, each.who) for each in deciding.events if isinstance(each, StepStarted)]
    assert [each for each in steps if each[0] in ("contribute", "prepare")] == [
        ("contribute", ("ann", "bob", "cy")),
        ("prepare", ("ann",)),
        ("contribute", ("ann", "bob", "cy")),
    ]


async def test_who_cannot_prepare_is_excluded_and_prepares_in_the_next_round(deciding: Deciding) -> None:
    down = {"fault": {"kind": "402", "times": 1}}
    deciding.play(says("bob", NO, number=1), *drafts(down, "MY-DRAFT"))
    outcome = await deciding.decide(deciding.decision("ann", "bob", {"id": "cy", "critique": 1}))
    assert (outcome.consensus, outcome.rounds) == (True, 2)
    first, second = (held.contributions[2] for held in deciding.rounds())
    assert first.excluded.startswith("its preparation failed: ")
    assert (first.prepared, second.prepared, second.excluded) == ("", "d1.cy", "")
    assert (first.usage, second.preparing.calls, second.usage.calls) == (first.preparing, 2, 3)
    assert outcome.usage.calls == sum(
        (each.usage.calls for held in deciding.rounds() for each in (*held.contributions, held.synthesis) if each), 0
    )


async def test_a_preparation_that_is_on_record_is_not_made_again(deciding: Deciding) -> None:
    deciding.play(says("cy", NO), *drafts("MY-DRAFT"))
    decision = deciding.decision({"id": "ann", "critique": 1}, "cy", rounds=1)
    outcome = await deciding.decide(decision)
    path = deciding.folder / "d1/journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    (at,) = (at for at, line in enumerate(lines) if b'"type":"prepared"' in line.replace(b": ", b":"))
    for kept in (at, at + 1):  # killed before that line, and behind it
        path.write_bytes(b"".join(lines[:kept]))
        deciding.play(says("cy", NO), *drafts("ANOTHER-DRAFT"))
        again = await deciding.decide(decision)
        assert again.usage.calls == outcome.usage.calls
        assert deciding.asked(step="generate") == 0
        assert "MY-DRAFT" in deciding.brief("ann", 1)


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
