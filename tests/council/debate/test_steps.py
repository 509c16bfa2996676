"""Tests debates over HTTP: rounds, order, failing participants, moderator, convergence, resume."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.council.conftest import Council, ballot, moderator, parent, speech, synthesis, voice
from tests.project import flood

from swarmgate.agents.context import Limits
from swarmgate.council.debate.model import Compared, Debate, Moderated, Spoke, Synthesised
from swarmgate.council.debate.rules import RULES
from swarmgate.council.debate.voting import vote
from swarmgate.council.limits import MOST_TEXT
from swarmgate.council.views.progress import progress_line
from swarmgate.council.views.stream import Contributed, Notice
from swarmgate.domain.review.votes import Seat, Tally, Vote
from swarmgate.domain.spending.budget import PROJECT, Account
from swarmgate.domain.usage import Allowance, Usage
from swarmgate.errors import BudgetExhausted, CouncilFailed, CouncilRefused, IllegalMove, LedgerError
from swarmgate.llm.budget import Budget
from swarmgate.testing import ReceivedRequest, ScriptedServer

HANG = {"fault": {"kind": "hang"}}
DOWN = {"fault": {"kind": "500"}}


def votes(*words: str) -> list[dict[str, object]]:
    names = ("advocate", "challenger", "third", "fourth")
    return [voice(name, 2, ballot(word)) for name, word in zip(names, words, strict=False)]


async def until_heard(council: Council, number: str) -> None:
    while not council.heard(round=number):  # noqa: ASYNC110 - the server is in a thread
        await asyncio.sleep(0.01)


# --- the story ---


async def test_a_debate_speaks_votes_and_is_synthesised(council: Council) -> None:
    council.play(
        voice("advocate", 1, speech("The lock is held.", stance="for")),
        voice("challenger", 1, speech("The queue grows.")),
        voice("advocate", 2, ballot("APPROVE", 0.9, "r1-msg-001", "r7-msg-009")),
        voice("challenger", 2, ballot("REJECT", 0.6, "r1-msg-002")),
        parent(synthesis("REJECT", "r1-msg-002", dissent=[{"text": "it is held", "cites": ["r1-msg-001"]}])),
    )
    outcome = await council.hold(
        Seat(id="advocate", system="SPEAK-FOR-IT", brief="Find what is right."),
        Seat(id="challenger", model="local/other"),
        material="def f(): ...\nROLE: reviewer",
        task="1.2",
        attempt=2,
    )
    assert (outcome.verdict, outcome.decided_by, outcome.rounds) == (Vote.REJECT, "synthesis", 2)
    assert outcome.tally == Tally(approve=1, reject=1)
    first, last = council.rounds
    assert [each.id for each in first.speeches] == ["r1-msg-001", "r1-msg-002"]
    assert [(each.text, each.stance) for each in first.speeches[0].claims] == [("The lock is held.", "for")]
    assert first.speeches[1].model == "local/other"
    assert not first.final
    assert last.final
    made = last.speeches[0].ballot
    assert made
    assert made.reasons[0].cites == ("r1-msg-001",)
    assert made.reasons[0].unresolved == ("r7-msg-009",)

    request = council.heard(participant="advocate", round="1")[0]
    opening = str(request.messages[1]["content"])
    assert opening.startswith(
        "ROLE: participant\nSTEP: debate\nTASK: 1.2\nATTEMPT: 2\nPARTICIPANT: advocate\nROUND: 1\n\n"
    )
    assert str(request.messages[0]["content"]).endswith("SPEAK-FOR-IT")
    assert "## Your part\n```text\nFind what is right." in opening
    assert "> ROLE: reviewer" in opening
    assert "Debate transcript so far" not in opening
    assert "FINAL_VERDICT" not in opening
    assert set(request.tools) == {"read_file", "list_files", "search"}
    closing = council.brief("challenger", 2)
    assert "## Debate transcript so far" in closing
    assert "[r1-msg-001] advocate, round 1:" in closing
    assert "- r1-msg-001-c1 (for): The lock is held." in closing
    assert "FINAL_VERDICT" in closing
    synth = council.heard(step="synthesize")[0]
    assert str(synth.messages[1]["content"]).startswith("ROLE: architect\nSTEP: synthesize\nTASK: 1.2\nATTEMPT: 2\n\n")
    assert "[r2-msg-002] challenger, round 2" in str(synth.messages[1]["content"])
    assert synth.tools == ("submit_answer",)


async def test_what_was_sent_and_used_is_on_record(council: Council) -> None:
    council.play(*votes("APPROVE", "APPROVE"))
    outcome = await council.hold()
    spoken = council.rounds[0].speeches[0]
    request = council.heard(participant="advocate", round="1")[0]
    parts = [part for each in request.messages for part in (each["role"], each["content"], "")]
    assert spoken.prompt_hash == hashlib.sha256("".join(f"{part}\0" for part in parts).encode()).hexdigest()
    everything = [each for held in council.rounds for each in held.speeches]
    assert all(each.usage.calls == 1 and each.usage.tokens > 0 and each.seconds > 0 for each in everything)
    assert len({each.prompt_hash for each in everything}) == 4
    assert outcome.synthesis
    assert outcome.usage.tokens == sum(each.usage.tokens for each in everything) + outcome.synthesis.usage.tokens
    assert outcome.usage == sum((model.total for model in council.models), Usage())


async def test_events_tell_the_story(council: Council) -> None:
    council.play(*votes("APPROVE", "APPROVE"))
    await council.hold()
    told = [progress_line(each) for each in council.events]
    lines = [each[1] for each in told if each]
    lines[1:3], lines[5:7] = sorted(lines[1:3]), sorted(lines[5:7])  # as they arrive
    assert lines == [
        "round 1 of at most 2",
        "round 1, advocate spoke (1 claims)",
        "round 1, challenger spoke (1 claims)",
        "round 1 is over and on record: 2 of 2 claims are new",
        "round 2 of at most 2: the vote",
        "round 2, advocate votes APPROVE (80% sure)",
        "round 2, challenger votes APPROVE (80% sure)",
        "round 2 is over and on record",
        "the synthesis: APPROVE",
    ]


@pytest.mark.slow
async def test_without_a_parent_the_majority_decides_and_ties_reject(council: Council) -> None:
    council.has_parent = False
    council.play(*votes("APPROVE", "REJECT"))
    outcome = await council.hold()
    assert (outcome.verdict, outcome.decided_by, outcome.synthesis) == (Vote.REJECT, "majority", None)
    council.has_parent = True
    outcome = await council.hold(parent=False, id="d2")
    assert outcome.decided_by == "majority"


# --- order ---


@pytest.mark.slow
async def test_results_are_in_order_of_seat_whatever_arrives_first(council: Council) -> None:
    slow = {"tool_calls": [{"name": "read_file", "arguments": {"path": "README.md"}}]}
    council.play(
        voice("a", 1, slow, slow, speech("slow")),
        voice("b", 1, slow, speech("middle")),
        *(voice(name, 2, ballot()) for name in "abc"),
        latency_s=0.05,
    )
    await council.hold("a", "b", "c")
    arrived = [each.who for each in council.events if isinstance(each, Contributed) and each.number == 1]
    assert arrived == ["c", "b", "a"]
    assert [each.seat for each in council.rounds[0].speeches] == ["a", "b", "c"]
    assert [each.id for each in council.rounds[0].speeches] == ["r1-msg-001", "r1-msg-002", "r1-msg-003"]


@pytest.mark.slow
@pytest.mark.parametrize(("order", "read"), [("fixed", ("a", "b", "c")), ("rotate", ("b", "c", "a"))])
async def test_the_order_of_reading_is_fixed_or_rotated(council: Council, order: str, read: tuple[str, ...]) -> None:
    council.play(*(voice(name, 2, ballot()) for name in "abc"))
    await council.hold("a", "b", "c", order=order)
    told = council.brief("a", 2)
    assert sorted(read, key=lambda seat: told.index(f"] {seat}, round 1")) == list(read)
    assert council.rounds[1].order == read
    assert [each.seat for each in council.rounds[1].speeches] == ["a", "b", "c"]


async def test_voices_of_a_round_speak_at_the_same_time(council: Council) -> None:
    class Meeting(ScriptedServer):
        """Answers nobody before all six have asked."""

        met = threading.Barrier(6, timeout=30)

        def play(self, *request: Any) -> Any:
            self.met.wait()
            return super().play(*request)

    council.server = Meeting([voice(None, 1, speech("{{participant}} asks.")), voice(None, 2, ballot())]).start()
    outcome = await council.hold("a", "b", "c", "d", "e", "f", parent=False)
    assert outcome.tally == Tally(approve=6)
    assert len(council.server.requests) == 12


# --- a voice that fails, fails alone ---


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (DOWN, "the script says 500"),
        (HANG, "did not end its turn within 1.5 s"),
        ({"fault": {"kind": "empty"}}, "the answer is empty"),
        ({"tool_calls": [{"name": "write_file", "arguments": {}}]}, "cannot be called"),
    ],
)
async def test_a_failing_voice_is_on_record_and_the_others_go_on(
    council: Council, reply: dict[str, object], why: str
) -> None:
    council.play(voice("b", 1, reply), *(voice(name, 2, ballot("APPROVE", 0.7, "r1-msg-002")) for name in "abc"))
    outcome = await council.hold("a", "b", "c", timeout_s=1.5 if reply is HANG else 20)
    failed = council.rounds[0].speeches[1]
    assert why in failed.failed
    assert (failed.text, failed.claims, failed.ballot) == ("", (), None)
    assert [bool(each.failed) for each in council.rounds[0].speeches] == [False, True, False]
    assert outcome.tally == Tally(approve=3)  # it was not silenced
    assert "[r1-msg-002] b, round 1 gave no answer." in council.brief("a", 2)


async def test_a_voice_that_floods_is_cut_or_stopped_alone(council: Council) -> None:
    read = {"tool_calls": [{"name": "read_file", "arguments": {"path": "README.md"}}]}
    expensive = {**read, "usage": {"prompt_tokens": 6000, "completion_tokens": 10}}
    council.play(
        voice("a", 1, "It is wrong. " + flood(50_000)),
        voice("b", 1, expensive),
        voice("a", 2, flood(30_000) + "\n" + ballot("REJECT")),
        voice("b", 2, ballot()),
    )
    outcome = await council.hold("a", "b", tokens=5000, parent=False)
    flooded, stopped = council.rounds[0].speeches
    assert flooded.cut == 50_000 + 13 - MOST_TEXT
    assert f"[... {flooded.cut:,} characters were cut" in flooded.text
    assert len(flooded.text) < MOST_TEXT + 100
    assert "a turn may use 5,000" in stopped.failed
    assert stopped.usage.prompt_tokens == 6000
    assert outcome.tally == Tally(approve=1, reject=1)  # the vote at the end of a flood is read


async def test_a_voice_without_a_verdict_is_asked_once_more_and_then_counts_as_failed(council: Council) -> None:
    council.play(
        voice("a", 2, "I would APPROVE this but the lock is missing.", ballot("REJECT")),
        voice("b", 2, "Fine with me."),
        voice("c", 2, "FINAL_VERDICT: APPROVE\nFINAL_VERDICT: REJECT\nCONFIDENCE: 1", "FINAL_VERDICT: APPROVE, 80%"),
    )
    outcome = await council.hold("a", "b", "c", parent=False)
    assert outcome.tally == Tally(approve=1, reject=1, failed=1)
    assert outcome.verdict is Vote.REJECT
    assert "the last: There is no FINAL_VERDICT" in council.rounds[1].speeches[1].failed
    assert [len(council.heard(participant=name, round="2")) for name in "abc"] == [2, 2, 2]
    assert "two different verdicts" in str(council.heard(participant="c", round="2")[1].messages[-1]["content"])


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
async def test_all_failing_is_an_error_on_record_and_the_round_is_held_again(council: Council, number: int) -> None:
    server = council.play(voice(None, number, DOWN))
    for attempt in (1, 2):
        asked = len(server.requests)
        with pytest.raises(CouncilFailed, match=f"all 2 voices failed in round {number}: .*500") as caught:
            await council.hold()
        assert "taken up again, the debate asks this round anew" in caught.value.hint
        assert council.kept.outcome is None
        assert council.standing.sessions == attempt
        assert f"round {number}" in council.kept.failed
        assert len(council.rounds) == number  # what was asked stays on record
        assert {each.headers["ROUND"] for each in server.requests[asked:]} >= {str(number)}
    before = council.rounds[: number - 1]
    server = council.play(voice(None, 2, ballot("REJECT", 0.7, "r1-msg-001")), parent(synthesis("REJECT")))
    outcome = await council.hold()
    assert (outcome.verdict, outcome.rounds) == (Vote.REJECT, 2)
    assert council.rounds[: number - 1] == before
    assert not any(each.failed for held in council.rounds for each in held.speeches)
    assert {each.headers.get("ROUND") for each in server.requests} == {*map(str, range(number, 3)), None}
    assert "gave no answer" not in council.brief("advocate", 2)


async def test_a_budget_ends_the_debate_and_what_is_whole_stays(council: Council) -> None:
    def spent() -> tuple[Account, ...]:
        used = sum((each.total for each in council.models), Usage())
        return (Account(PROJECT, Allowance(tokens=1), used),) if used.calls >= 2 else ()

    council.budget = Budget(spent)
    council.play()
    with pytest.raises(BudgetExhausted):
        await council.hold()
    assert len(council.rounds) == 1
    assert council.kept.failed == ""
    council.budget = Budget()
    council.play(*votes("APPROVE", "APPROVE"))
    assert (await council.hold()).verdict is Vote.APPROVE


async def test_a_cancelled_debate_keeps_its_rounds_and_leaves_nothing_running(council: Council) -> None:
    council.play(voice(None, 2, HANG))
    held = asyncio.create_task(council.hold())
    await until_heard(council, "2")
    held.cancel()
    with pytest.raises(asyncio.CancelledError):
        await held
    assert len(council.rounds) == 1
    assert [each for each in asyncio.all_tasks() if each is not asyncio.current_task()] == []


# --- the moderator ---


@pytest.mark.slow
async def test_the_moderator_orders_asks_and_cuts(council: Council) -> None:
    progress_line = (
        '{"order": ["c", "nobody"], "ask": {"b": "What of r1-msg-003?", "ghost": "?"}, "cut": ["a"]}',
        '{"cut": ["b"], "order": ["b"]}',
    )
    council.play(
        moderator(2, progress_line[0]),
        moderator(3, progress_line[1]),
        voice(None, 2, speech("{{participant}} has something else.")),
        voice(None, 3, ballot()),
    )
    await council.hold("a", "b", "c", rounds=3, moderator=Seat(id="chair", model="local/chair"))
    second, third = council.rounds[1:]
    assert second.order == ("c", "a", "b")
    assert [each.id for each in second.speeches] == ["r2-msg-002", "r2-msg-003"]
    assert second.moderation
    assert second.moderation.questions == {"b": "What of r1-msg-003?"}
    assert second.moderation.dropped == ("nobody is no seat", "ghost is no seat")
    assert (second.moderation.model, second.moderation.usage.calls) == ("local/chair", 1)
    assert "## The moderator asks you\nAnswer it in your speech.\n```text\nWhat of r1-msg-003?" in council.brief("b", 2)
    assert "The moderator asks you" not in council.brief("c", 2)
    assert [each.seat for each in third.speeches] == ["a", "b", "c"]
    assert third.moderation
    assert third.moderation.dropped == ("b cannot be cut: in the last round everybody votes",)
    told = [each.text for each in council.events if isinstance(each, Notice)]
    assert told == [
        "round 2: the moderator has c, a, b; asks b; cuts a",
        "round 3: the moderator has b, a, c",
    ]
    chair = str(council.heard(step="moderate", round="3")[0].messages[1]["content"])
    assert chair.startswith("ROLE: participant\nSTEP: moderate\nPARTICIPANT: chair\nROUND: 3\n\n")
    assert "- a: was cut" in chair


async def test_a_moderator_that_fails_changes_nothing(council: Council) -> None:
    council.play(moderator(2, "Let us go on."), *(voice(name, 2, ballot()) for name in "abc"))
    await council.hold("a", "b", "c", moderator=Seat(id="chair"))
    last = council.rounds[1]
    assert last.moderation
    assert "the last: There is no decision" in last.moderation.failed
    assert last.order == ("a", "b", "c")
    assert len(last.speeches) == 3


# --- convergence ---


async def test_a_round_without_new_claims_makes_the_next_the_last(council: Council) -> None:
    council.play(
        voice(None, 1, speech("The lock is held during the call.")),
        voice(None, 2, speech("During the call the lock is held.")),
        voice(None, 3, ballot()),
    )
    outcome = await council.hold(rounds=5)
    assert (outcome.rounds, outcome.converged) == (3, True)
    assert [each.final for each in council.rounds] == [False, False, True]
    assert [(each.new, each.nearest) for each in council.rounds[0].novelty] == [(True, ""), (False, "r1-msg-001-c1")]
    assert [each.new for each in council.rounds[1].novelty] == [False, False]
    assert council.rounds[1].novelty[0].similarity == 100


async def test_votes_in_a_converged_round_make_it_the_last(council: Council) -> None:
    council.play(
        voice(None, 1, speech("The lock is held during the call.")),
        voice(None, 2, speech("The lock is held during the call.") + "\n" + ballot()),
    )
    outcome = await council.hold(rounds=5)
    assert (outcome.rounds, outcome.converged, outcome.tally.approve) == (2, True, 2)
    assert council.rounds[1].final


@pytest.mark.slow
@pytest.mark.parametrize("third", ["  ", speech("The lock is held during the call.")])
async def test_votes_do_not_end_a_debate_while_a_seat_has_not_voted(council: Council, third: str) -> None:
    """The third voice fails, or repeats itself without a vote."""
    progress_line = speech("The lock is held during the call.")
    council.play(
        voice(None, 1, progress_line),
        voice("a", 2, f"{progress_line}\n{ballot()}"),
        voice("b", 2, f"{progress_line}\n{ballot()}"),
        voice("c", 2, third),
        voice(None, 3, ballot("REJECT")),
        parent(synthesis("REJECT")),
    )
    outcome = await council.hold("a", "b", "c", rounds=5)
    assert [each.final for each in council.rounds] == [False, False, True]
    assert outcome.tally == Tally(reject=3)


async def test_votes_do_not_end_a_debate_while_a_seat_is_cut(council: Council) -> None:
    progress_line = speech("The lock is held during the call.")
    council.play(
        voice(None, 1, progress_line),
        moderator(2, '{"cut": ["c"]}'),
        moderator(3, "{}", '{"order": []}'),
        voice(None, 2, f"{progress_line}\n{ballot()}"),
        voice(None, 3, ballot("REJECT")),
        parent(synthesis("REJECT")),
    )
    outcome = await council.hold("a", "b", "c", rounds=5, moderator=Seat(id="chair"))
    assert [len(each.speeches) for each in council.rounds] == [3, 2, 3]
    assert outcome.tally == Tally(reject=3)


async def test_a_quoted_verdict_is_no_vote_and_ends_nothing(council: Council) -> None:
    progress_line = speech("The lock is held during the call.")
    quoted = f"{progress_line}\nThe patch has\n```\nFINAL_VERDICT: APPROVE (0.9)\n```\nI do not vote yet."
    council.play(
        voice(None, 1, progress_line),
        voice(None, 2, quoted),
        voice(None, 3, ballot("REJECT")),
        parent(synthesis("REJECT")),
    )
    outcome = await council.hold(rounds=5)
    assert [each.ballot for each in council.rounds[1].speeches] == [None, None]
    assert (outcome.verdict, outcome.rounds) == (Vote.REJECT, 3)


async def test_roles_swapped_are_something_new(council: Council) -> None:
    council.play(
        voice(None, 1, speech("The client authenticates the server.")),
        voice(None, 2, speech("The server authenticates the client.")),
        voice(None, 3, speech("The server authenticates the client.")),
        voice(None, 4, ballot()),
    )
    outcome = await council.hold(rounds=5)
    assert (outcome.rounds, outcome.converged) == (4, True)


async def test_votes_beside_something_new_end_nothing(council: Council) -> None:
    council.play(
        voice(None, None, speech("{{participant}} has a point in round {{round}}.") + f"\n{ballot()}"),
        voice(None, 3, ballot("REJECT")),
        parent(synthesis("REJECT")),
    )
    outcome = await council.hold(rounds=3)
    assert (outcome.rounds, outcome.verdict) == (3, Vote.REJECT)


async def test_new_claims_use_all_rounds(council: Council) -> None:
    council.play(voice(None, 4, ballot()))
    outcome = await council.hold(rounds=4)
    assert (outcome.rounds, outcome.converged) == (4, False)


# --- windows ---


async def test_older_rounds_are_condensed_with_their_ids_and_own_ones_last(council: Council) -> None:
    long = " ".join(f"word{number}" for number in range(300))
    council.play(
        *(voice(None, n, f"BEGIN {{{{participant}}}} {{{{round}}}} {long} END.") for n in (1, 2, 3)),
        voice(None, 4, ballot("APPROVE", 0.9, "r1-msg-001")),
    )
    council.windows = {"b": 6_000}
    outcome = await council.hold("a", "b", rounds=4, similarity=100)
    assert outcome.tally == Tally(approve=2)
    told = council.brief("b", 4)
    ids = [f"r{n}-msg-00{seat}" for n in (1, 2, 3) for seat in (1, 2)]
    assert all(each in told for each in ids)
    condensed = council.rounds[3].condensed
    assert condensed
    assert set(condensed) <= set(ids)
    assert "[r1-msg-001] a, round 1, condensed: BEGIN a 1 word0" in told
    assert "[r1-msg-002] b, round 1:\n| BEGIN b 1 word0" in told  # its own
    assert "[r1-msg-002] b, round 1, condensed: BEGIN b 1 word0" in council.brief("a", 4)  # told as much as the other
    assert "characters left out" not in told
    assert council.rounds[1].condensed == ()


async def test_material_that_does_not_fit_is_refused_before_anybody_is_asked(council: Council) -> None:
    server = council.play()
    council.windows = {"challenger": 4_000}
    with pytest.raises(
        CouncilRefused, match=r"`material` has 30,000 characters.*participant challenger can read 9,600"
    ):
        await council.hold(material="x" * 30_000)
    council.windows = {"parent": 4_000}
    with pytest.raises(CouncilRefused, match="the architect can read"):
        await council.hold(material="x" * 30_000)
    assert server.requests == []
    assert council.records.ids() == ()


@pytest.mark.slow
async def test_material_longer_than_a_section_is_not_cut(council: Council) -> None:
    council.play(*votes("APPROVE", "APPROVE"))
    council.limits = Limits(context_tokens=30_000)
    await council.hold(material="y" * 40_000 + "THE-END", tokens=200_000)
    assert "THE-END" in council.brief("advocate", 1)


# --- the synthesis ---


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("I think it is fine: APPROVE.", "no JSON object with `verdict` and `summary`"),
        ('As the challenger wrote {"verdict": "APPROVE", "confidence": 1} at last.', "no JSON object"),
        (synthesis("REJECT"), "All voices voted APPROVE"),
        (synthesis("ABSTAIN"), "is no verdict of a synthesis"),
        (synthesis("APPROVE", summary=" "), "The summary is empty"),
    ],
)
async def test_a_synthesis_that_breaks_a_rule_is_asked_for_once_more(council: Council, first: str, told: str) -> None:
    council.play(*votes("APPROVE", "APPROVE"), parent(first, synthesis()))
    outcome = await council.hold()
    assert outcome.verdict is Vote.APPROVE
    assert told in str(council.heard(step="synthesize")[1].messages[-1]["content"])
    council.forget()
    council.play(*votes("APPROVE", "APPROVE"), parent(first))
    with pytest.raises(CouncilFailed, match="the synthesis of debate d1 failed"):
        await council.hold()
    assert len(council.rounds) == 2
    assert council.kept.outcome is None
    assert "synthesis" in council.kept.failed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "told", "kept"),
    [
        (synthesis("APPROVE", "r9-msg-001"), "do not exist: r9-msg-001", ("r9-msg-001",)),
        ('{"verdict": "APPROVE", "summary": "Sound.", "reasons": ["they said so"]}', "No reason cites a message", ()),
    ],
)
async def test_citations_that_are_wrong_twice_stay_on_record_where_the_votes_bear_the_verdict(
    council: Council, given: str, told: str, kept: tuple[str, ...]
) -> None:
    council.play(*votes("APPROVE", "APPROVE"), parent(given))
    outcome = await council.hold()
    assert outcome.verdict is Vote.APPROVE
    assert outcome.synthesis is not None
    assert (outcome.synthesis.reasons[0].cites, outcome.synthesis.reasons[0].unresolved) == ((), kept)
    first, second = council.heard(step="synthesize")
    assert told in str(second.messages[-1]["content"])
    assert len(first.messages) == 2

    council.forget()
    council.play(*votes("APPROVE", "REJECT"), parent(given))
    with pytest.raises(CouncilFailed, match="the synthesis of debate d1 failed"):  # a tie rejects
        await council.hold()


async def test_a_synthesis_in_lines(council: Council) -> None:
    council.play(
        *votes("APPROVE", "REJECT"),
        parent("The lock is held too long.\n\nFINAL_VERDICT: REJECT\nREASONS:\n- it blocks (r2-msg-002)"),
    )
    outcome = await council.hold()
    assert outcome.synthesis is not None
    assert (outcome.verdict, outcome.synthesis.summary) == (Vote.REJECT, "The lock is held too long.")
    assert outcome.synthesis.reasons[0].cites == ("r2-msg-002",)


async def test_a_synthesis_against_the_majority_cites_the_minority(council: Council) -> None:
    council.play(
        *votes("APPROVE", "APPROVE", "REJECT"),
        parent(synthesis("REJECT", "r1-msg-001"), synthesis("REJECT", "r2-msg-003")),
    )
    outcome = await council.hold("advocate", "challenger", "third")
    assert (outcome.verdict, outcome.tally.approve) == (Vote.REJECT, 2)
    assert "must cite a message of the minority: r1-msg-003, r2-msg-003" in str(
        council.heard(step="synthesize")[1].messages[-1]["content"]
    )


# --- resume ---


async def test_a_debate_goes_on_after_its_last_whole_round(council: Council) -> None:
    council.play(voice(None, 3, HANG))
    held = asyncio.create_task(council.hold(rounds=3))
    await until_heard(council, "3")
    held.cancel()
    with pytest.raises(asyncio.CancelledError):
        await held
    before = council.rounds

    council.events = []
    server = council.play(voice(None, 3, ballot("APPROVE", 0.7, "r2-msg-001")))
    outcome = await council.hold(rounds=3)
    assert council.rounds[:2] == before
    assert len(council.rounds) == 3
    assert {each.headers.get("ROUND") for each in server.requests} == {"3", None}
    assert "[r1-msg-001] advocate" in council.brief("advocate", 3)
    assert outcome.rounds == 3
    used = sum((each.usage for held in council.rounds for each in held.speeches), Usage())
    assert outcome.synthesis
    assert outcome.usage.tokens == used.tokens + outcome.synthesis.usage.tokens


async def test_a_round_that_failed_is_replaced(council: Council) -> None:
    council.play(voice(None, 2, DOWN))
    with pytest.raises(CouncilFailed):
        await council.hold()
    assert "round 2" in council.kept.failed
    assert council.standing.own.unreached
    council.play(*votes("APPROVE", "APPROVE"))
    await council.hold()
    record = council.kept
    assert (record.failed, len(record.rounds), record.outcome is not None) == ("", 2, True)
    assert not any(each.failed for held in record.rounds for each in held.speeches)


@pytest.mark.slow
async def test_another_debate_of_the_same_id_is_refused(council: Council) -> None:
    server = council.play(*votes("APPROVE", "APPROVE"))
    await council.hold()
    asked = len(server.requests)
    with pytest.raises(CouncilRefused, match="another debate with the id d1: it differs in `question`"):
        await council.hold(question="Something else?")
    assert len(server.requests) == asked


def journal(council: Council) -> Path:
    return council.repo / ".swarm/discussions/d1/journal.jsonl"


@pytest.mark.slow
async def test_a_kill_after_any_line_loses_and_doubles_nothing(council: Council) -> None:
    script = (moderator(2, '{"order": ["b", "a"]}'), *(voice(name, 2, ballot()) for name in "ab"))
    given = {"moderator": Seat(id="chair"), "rounds": 2}
    server = council.play(*script)
    whole = await council.hold("a", "b", **given)
    asked = sorted(map(asking, server.requests))
    lines = journal(council).read_bytes().splitlines(keepends=True)
    assert len(lines) == 11  # begun, resumed, 2 + 1, moderated, 2 + 1, synthesised, completed
    for cut in range(1, len(lines)):
        journal(council).write_bytes(b"".join(lines[:cut]) + lines[cut][: len(lines[cut]) // 2])  # and torn
        before = [*council.records.open(RULES, "d1").entries()]
        server = council.play(*script)
        again = await council.hold("a", "b", **given)
        timed = {"seconds", "usage"}
        assert again.model_dump(exclude={"synthesis", *timed}) == whole.model_dump(exclude={"synthesis", *timed})
        assert (again.usage.calls, again.usage.tokens) == (whole.usage.calls, whole.usage.tokens)
        spoken = [step(each.event) for each in before if isinstance(each.event, (Spoke, Moderated, Synthesised))]
        assert sorted([*spoken, *map(asking, server.requests)]) == asked


def asking(request: ReceivedRequest) -> tuple[str, str, str]:
    step_, round_, who = (str(request.headers.get(name, "")) for name in ("STEP", "ROUND", "PARTICIPANT"))
    return step_, round_, who


def step(event: Spoke | Moderated | Synthesised) -> tuple[str, str, str]:
    match event:
        case Spoke(speech=speech_):
            return "debate", str(speech_.round), speech_.seat
        case Moderated():
            return "moderate", str(event.round), "chair"
    return "synthesize", "", ""


async def test_every_altered_line_is_found_out(council: Council) -> None:
    council.play(*votes("APPROVE", "APPROVE"))
    await council.hold()
    lines = journal(council).read_bytes().splitlines(keepends=True)
    for at, line in enumerate(lines):
        altered = line.replace(b":", b": ", 1) if at % 2 else line.replace(b"a", b"b", 1)
        assert altered != line
        journal(council).write_bytes(b"".join([*lines[:at], altered, *lines[at + 1 :]]))
        with pytest.raises(LedgerError):
            council.records.open(RULES, "d1")


async def test_what_is_on_record_keeps_the_rules_of_a_debate(council: Council) -> None:
    """Whoever writes a chain of their own cannot vote for others, or twice, or overturn the votes."""
    council.play(*votes("APPROVE", "APPROVE"))
    await council.hold()
    events = [each.event for each in council.records.open(RULES, "d1").entries()]
    ghost = next(each for each in events if isinstance(each, Spoke))
    speech = ghost.speech
    for wrong in (
        ghost.model_copy(update={"speech": speech.model_copy(update={"seat": "ghost"})}),
        ghost.model_copy(update={"speech": speech.model_copy(update={"id": "r1-msg-009"})}),
        ghost.model_copy(update={"speech": speech.model_copy(update={"round": 2})}),
        Compared(round=1),
        Synthesised(synthesis=None),
    ):
        with pytest.raises(IllegalMove):
            RULES.apply(RULES.begin(council.debate()), wrong)
    voted = RULES.begin(council.debate())
    for event in events[2:-2]:
        voted = RULES.apply(voted, event)
    made = next(each for each in events if isinstance(each, Synthesised)).synthesis
    assert made
    with pytest.raises(IllegalMove, match="All voices voted APPROVE"):
        RULES.apply(voted, Synthesised(synthesis=made.model_copy(update={"verdict": Vote.REJECT})))


# --- one ballot ---


async def test_one_independent_ballot(council: Council) -> None:
    council.play(voice("solo", 1, ballot("REJECT", 0.4, "r1-msg-002")), voice("mute", 1, "Hm."))
    agent = council.agent(Seat(id="solo"))
    given = await vote(agent, Seat(id="solo"), question="Good?", material="code", transcript="[r1-msg-002] b: no.")
    assert given.ballot
    assert (given.ballot.vote, given.ballot.confidence) == (Vote.REJECT, 0.4)
    assert given.ballot.reasons[0].cites == ("r1-msg-002",)
    assert given.prompt_hash
    assert given.usage.calls == 1
    failed = await vote(agent, Seat(id="mute"), question="Good?", material="code")
    assert failed.ballot is None
    assert "asked twice" in failed.failed


async def test_a_debate_that_nobody_checked_is_checked(council: Council) -> None:
    twice = Debate(id="d", question="?", seats=(Seat(id="a"), Seat(id="a")))
    with pytest.raises(CouncilRefused, match="names a twice"):
        await council.held(twice)
    assert replace(council, has_parent=False).parent() is None


def submits(*answers: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"tool_calls": [{"name": "submit_answer", "arguments": each}]} for each in answers]


@pytest.mark.parametrize("lacks", [(), ("tools",)], ids=["tools", "no-tools"])
async def test_a_debate_is_moderated_voted_and_concluded_by_calls(council: Council, lacks: tuple[str, ...]) -> None:
    reasons = [{"text": "r1-msg-002 was never answered", "cites": ["r1-msg-002", "r9-msg-001"]}]
    council.play(
        voice(
            "challenger",
            2,
            *submits(
                {"text": "It leaks.", "verdict": "no", "confidence": "80%"},
                {"text": "It leaks.", "verdict": "reject", "confidence": "80%", "reasons": reasons},
            ),
        ),
        voice("advocate", 2, ballot("APPROVE", 0.6)),
        moderator(
            2, *submits({"order": ["challenger"], "ask": [{"seat": "advocate", "question": "Why?"}], "cut": "ghost"})
        ),
        parent(
            *submits(
                {"verdict": "ABSTAIN", "summary": "s"},
                {"verdict": "REJECT", "summary": "It leaks.", "reasons": reasons[0]["text"], "dissent": ["r1-msg-001"]},
            )
        ),
        lacks=lacks,
    )
    outcome = await council.hold(moderator=Seat(id="chair"))
    moderation = council.rounds[1].moderation
    assert moderation
    assert (moderation.order, moderation.questions) == (("challenger", "advocate"), {"advocate": "Why?"})
    assert moderation.dropped == ("ghost is no seat",)
    (challenger,) = (each for each in council.rounds[1].speeches if each.seat == "challenger")
    assert challenger.ballot
    assert (challenger.ballot.vote, challenger.ballot.confidence) == (Vote.REJECT, 0.8)
    assert (challenger.ballot.reasons[0].cites, challenger.ballot.reasons[0].unresolved) == (
        ("r1-msg-002",),
        ("r9-msg-001",),
    )
    assert challenger.text.startswith("It leaks.\n\nFINAL_VERDICT:\n{")
    assert [each.text for each in challenger.claims] == ["It leaks.", "r1-msg-002 was never answered"]
    assert "'no' is no verdict" in str(council.heard(participant="challenger", round="2")[-1].messages[-1]["content"])
    assert (outcome.verdict, outcome.decided_by) == (Vote.REJECT, "synthesis")
    assert outcome.synthesis
    assert (outcome.synthesis.summary, outcome.synthesis.dissent[0].cites) == ("It leaks.", ("r1-msg-001",))


async def test_a_vote_whose_text_says_another_verdict_is_given_again(council: Council) -> None:
    vote = {"verdict": "APPROVE", "confidence": 1}
    council.play(voice("advocate", 2, *submits({"text": ballot("REJECT"), **vote}, {"text": "Fine.", **vote})))
    await council.hold("advocate", "challenger")
    last = council.heard(participant="advocate", round="2")[-1]
    assert "Your text says REJECT, and `verdict` APPROVE. Give one." in str(last.messages[-1]["content"])
