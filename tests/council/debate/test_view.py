"""Tests the output of `swarm debate show`: complete, and escaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from tests.council.debate.debate_story import FIRST, HOSTILE, OUTCOME, RECORD

from swarmgate.council.debate import view
from swarmgate.council.debate.model import DebateRecord
from swarmgate.domain.review.votes import Seat
from swarmgate.domain.text.printable import printable

SHOWN = (
    "Debate 20261121-224500-3f2a",
    "Is the cache safe?",
    "at most 3 rounds, order rotate, 20,000 tokens a voice and round, moderator chair",
    "advocate (local/senior): Argue for it.",
    "def put(key): ...",
    "Round 1 (1.5 s)",
    "r1-msg-001 advocate (local/senior)",
    "110 tokens, $0.0001, 1.2 s, prompt a1b2c3d4e5f6, 12 characters left out",
    "r1-msg-001-c1 [for, new] It is locked",
    "evidence: cache.py, line 3",
    "failed: it gave nothing that counts",
    "Round 2, nothing new (2.0 s)",
    "the moderator sets the order challenger, advocate",
    "the moderator asks challenger: What breaks?",
    "the moderator cuts advocate, who repeats itself",
    "r2-msg-001-c1 [for, old, 96% like r1-msg-001-c1] It is locked!",
    "Round 3, the vote (1.0 s)",
    "seen as a gist, as not all fitted: r1-msg-001",
    "the rounds before are read in the order advocate, challenger",
    "FINAL_VERDICT: APPROVE, 60% sure",
    "FINAL_VERDICT: REJECT, 80% sure",
    "The lock is per process. (names what was not there: r9-msg-009)",
    "decided by the architect's synthesis; 1 approve, 1 reject, 0 abstain, 0 failed",
    "The lock does not reach the other process.",
    "It is per process. [r3-msg-002]",
    "Within a process it holds. [r1-msg-001]",
    "3 rounds, converged early; 820 tokens, at least $0.0008, the rest unknown, 5.2 s",
)
"""Every word, vote, claim and cost of the story."""


def test_the_text_has_every_word_vote_claim_and_cost_in_their_order() -> None:
    text = "\n".join(view.text_lines(RECORD))
    assert [each for each in SHOWN if each not in text] == []
    rounds = [text.index(each) for each in SHOWN if each.startswith(("Debate", "Round", "3 rounds"))]
    assert rounds == sorted(rounds)
    assert '{"claims"' not in text
    assert "  - Within a process it holds. [r1-msg-001]" in text.splitlines()


def test_the_page_has_the_same() -> None:
    tags = Tags()
    tags.feed(view.html(RECORD))
    assert [each for each in SHOWN if each not in tags.text] == []
    assert '<li class="old">r2-msg-001-c1' in view.html(RECORD)
    assert '<strong class="REJECT">REJECT</strong>' in view.html(RECORD)


class Tags(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    "hostile",
    [
        HOSTILE,
        "</pre></style><img src=x onerror=alert(1)>",
        "\" onload='x",
        "&lt;i&gt;",
        "{{ 7 * 7 }}",
        "\ud83d\u202e</p>",
    ],
)
def test_nothing_that_was_said_becomes_part_of_the_page(hostile: str) -> None:
    speech = FIRST.speeches[0].model_copy(
        update={"text": hostile, "seat": hostile, "model": hostile, "id": hostile, "failed": ""}
    )
    debate = RECORD.debate.model_copy(
        update={"id": hostile, "question": hostile, "seats": (Seat.model_construct(id=hostile, brief=hostile),) * 2}
    )
    held = FIRST.model_copy(update={"speeches": (speech,), "order": (hostile,)})
    page = view.html(RECORD.model_copy(update={"debate": debate, "rounds": (held,)}))
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert tags.names <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "pre", "ul", "li", "strong",
        "details", "summary",
    }  # fmt: skip
    assert tags.attributes <= {"lang", "charset", "name", "content", "http-equiv", "class", "id"}
    assert tags.text.count(printable(hostile)) >= 8
    assert page.encode("utf-8")
    assert not re.search(r"url\(|@import", page)


def test_a_debate_that_is_not_over_says_so_and_a_failed_one_why() -> None:
    running = DebateRecord(debate=RECORD.debate, rounds=(FIRST,))
    assert view.verdict_lines(running) == ["No verdict yet: the debate is not over."]
    failed = running.model_copy(update={"failed": "all voices failed"})
    assert view.text_lines(failed)[-1] == "No verdict: all voices failed"
    assert "No verdict: all voices failed" in view.html(failed)


def test_without_a_synthesis_the_voices_of_each_side_give_reasons_and_dissent() -> None:
    majority = RECORD.model_copy(
        update={"outcome": OUTCOME.model_copy(update={"synthesis": None, "decided_by": "majority"})}
    )
    assert view.reasons(majority) == (
        "challenger: The lock is per process. (names what was not there: r9-msg-009)",
        "approve does not outnumber reject and failed: 1 approve, 1 reject, 0 abstain, 0 failed",
    )
    assert view.dissent(majority) == ("advocate: The lock holds. [r1-msg-001]",)
    assert "decided by the majority; a tie rejects" in view.verdict_lines(majority)[0]
