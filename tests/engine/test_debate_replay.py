"""What `swarm debate show` prints, held against golden files: SWARMGATE_GOLDEN=1 writes them anew."""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.engine.debate_story import FIRST, HOSTILE, OUTCOME, RECORD

from swarmgate.council.debate.model import DebateRecord
from swarmgate.domain.debate import Seat
from swarmgate.domain.printable import printable
from swarmgate.engine import debate_replay

GOLDEN = Path(__file__).parent / "golden"


def same(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("SWARMGATE_GOLDEN"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


def test_the_text_has_every_word_vote_claim_and_cost() -> None:
    same("debate.txt", "\n".join(debate_replay.text_lines(RECORD)) + "\n")


def test_the_page_has_the_same() -> None:
    same("debate.html", debate_replay.html(RECORD))


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
    page = debate_replay.html(RECORD.model_copy(update={"debate": debate, "rounds": (held,)}))
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
    assert debate_replay.verdict_lines(running) == ["No verdict yet: the debate is not over."]
    failed = running.model_copy(update={"failed": "all voices failed"})
    assert debate_replay.text_lines(failed)[-1] == "No verdict: all voices failed"
    assert "No verdict: all voices failed" in debate_replay.html(failed)


def test_without_a_synthesis_the_voices_of_each_side_give_reasons_and_dissent() -> None:
    majority = RECORD.model_copy(
        update={"outcome": OUTCOME.model_copy(update={"synthesis": None, "decided_by": "majority"})}
    )
    assert debate_replay.reasons(majority) == (
        "challenger: The lock is per process. (names what was not there: r9-msg-009)",
        "approve does not outnumber reject and failed: 1 approve, 1 reject, 0 abstain, 0 failed",
    )
    assert debate_replay.dissent(majority) == ("advocate: The lock holds. [r1-msg-001]",)
    assert "decided by the majority; a tie rejects" in debate_replay.verdict_lines(majority)[0]
