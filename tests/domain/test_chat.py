"""Records of swarm chats."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from swarmgate.domain.chat import MOST_CONTENT, ChatMessage, Draft, message_id


def test_messages_are_named_by_their_numbers() -> None:
    assert message_id(1) == "msg-000001"
    assert ChatMessage(sender="a", to=("b",), content="x", number=1_234_567, at=0.0).id == "msg-1234567"


@pytest.mark.parametrize(
    ("to", "content"), [((), "x"), (("b",), "  \n "), (("b",), "x" * (MOST_CONTENT + 1)), (("b c",), "x")]
)
def test_a_message_is_for_somebody_says_something_and_is_bounded(to: tuple[str, ...], content: str) -> None:
    with pytest.raises(ValidationError):
        Draft(sender="a", to=to, content=content)
