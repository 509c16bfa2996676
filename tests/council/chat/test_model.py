"""Tests the data model of swarm chats."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from swarmgate.council.chat.model import MOST_CONTENT, ChatMessage, Draft, message_id


def test_messages_are_named_by_their_numbers() -> None:
    assert message_id(1) == "msg-000001"
    assert ChatMessage(sender="a", to=("b",), content="x", number=1_234_567, at=0.0).id == "msg-1234567"


@pytest.mark.parametrize(("to", "content"), [((), "x"), (("b",), "  \n "), (("b c",), "x")])
def test_a_message_is_for_somebody_and_says_something(to: tuple[str, ...], content: str) -> None:
    with pytest.raises(ValidationError):
        Draft(sender="a", to=to, content=content)


def test_a_text_that_masking_makes_too_long_is_kept_with_a_note() -> None:
    kept = Draft(sender="a", to=("b",), content="[redacted secret]" + "x" * MOST_CONTENT).content
    assert kept.startswith("[redacted secret]x")
    assert kept.endswith("the end was cut: without its secrets the text is longer than a message may be ...]")
    assert len(kept) == MOST_CONTENT
