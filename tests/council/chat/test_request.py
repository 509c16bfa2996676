"""Tests the validation of swarm chat requests and the messages of refusals."""

from __future__ import annotations

from typing import Any

import pytest

from swarmgate.council.chat.model import MOST_CONTENT, Chat
from swarmgate.council.chat.request import chat_of
from swarmgate.errors import CouncilRefused

AGENTS = [{"id": "ada", "model": "local/a", "system": "Be brief."}, {"id": "bob"}]
INITIAL = {"from": "moderator", "to": "all", "content": "Is it safe?"}


def asked(**changes: Any) -> Chat:
    fields: dict[str, Any] = {
        "id": "talk",
        "agents": AGENTS,
        "initial": INITIAL,
        "ttl_s": 600,
        "messages": 10,
        "tokens": 100,
        "created_at": 1.0,
    }
    return chat_of(**fields | changes)


def test_a_chat_as_the_issue_has_it() -> None:
    chat = asked()
    assert (chat.names, chat.moderator) == (("ada", "bob"), "")
    assert (chat.opening.sender, chat.opening.to) == ("moderator", ("ada", "bob"))
    assert chat.agents[0].model == "local/a"


def test_all_means_everybody_but_the_sender_and_several_may_be_named() -> None:
    assert asked(initial={**INITIAL, "from": "ada"}).opening.to == ("bob",)
    assert asked(initial={**INITIAL, "to": ["bob", "ada"]}).opening.to == ("ada", "bob")
    assert asked(initial={**INITIAL, "to": "bob"}).opening.to == ("bob",)


def test_where_an_agent_moderates_the_moderators_opening_is_its_own() -> None:
    assert asked(moderator="bob").opening.model_dump(include={"sender", "to"}) == {"sender": "bob", "to": ("ada",)}
    named = asked(agents=[*AGENTS, {"id": "moderator"}])
    assert (named.moderator, named.opening.to) == ("moderator", ("ada", "bob"))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"ttl_s": 0}, "`ttl_s` is '0'"),
        ({"ttl_s": -1.5}, "`ttl_s` is '-1.5'"),
        ({"ttl_s": float("nan")}, "`ttl_s`"),
        ({"ttl_s": float("inf")}, "`ttl_s`"),
        ({"ttl_s": True}, "`ttl_s`"),
        ({"ttl_s": "600"}, "`ttl_s`"),
        ({"ttl_s": 10**9}, "at most 604,800"),
        ({"messages": 0}, "`messages`"),
        ({"messages": 1.5}, "a whole number"),
        ({"tokens": 0}, "`tokens`"),
        ({"id": "../x"}, "`id` is '../x'"),
        ({"id": 5.5}, None),
        ({"agents": []}, "`agents` has 0"),
        ({"agents": AGENTS[:1]}, "`agents` has 1: a chat has 2 to 32"),
        ({"agents": [{"id": f"a{n}"} for n in range(33)]}, "`agents` has 33"),
        ({"agents": [*AGENTS, {"id": "ada"}]}, "names ada twice"),
        ({"agents": [*AGENTS, {"id": "all"}]}, "`all`"),
        ({"agents": [*AGENTS, {"id": "a b"}]}, "`agents[2].id`"),
        ({"agents": [*AGENTS, {"id": "cyd", "modell": "x"}]}, "did you mean `model`?"),
        ({"agents": "ada"}, "`agents` must be a list"),
        ({"agents": [5, 6]}, "`agents[0]`"),
        ({"moderator": "adda"}, "did you mean ada?"),
        ({"moderator": "ada", "agents": [*AGENTS, {"id": "moderator"}]}, "another agent is named `moderator`"),
        ({"initial": "hello"}, "`initial` must have"),
        ({"initial": {**INITIAL, "form": "x"}}, "did you mean `from`?"),
        ({"initial": {**INITIAL, "from": "eve"}}, "`initial.from`: there is no 'eve'"),
        ({"initial": {**INITIAL, "to": "bobb"}}, "did you mean bob?"),
        ({"initial": {**INITIAL, "to": []}}, "names nobody"),
        ({"initial": {**INITIAL, "to": 5}}, "names nobody"),
        ({"initial": {**INITIAL, "to": ["bob", 5]}}, "there is no '5'"),
        ({"initial": {**INITIAL, "from": "ada", "to": "ada"}}, "the sender itself"),
        ({"initial": {**INITIAL, "content": " \n"}}, "`initial.content` is empty"),
        ({"initial": {**INITIAL, "content": "\x00\x01"}}, "`initial.content` is empty"),
        ({"initial": {"from": "ada", "to": "bob"}}, "`initial.content` is empty"),
        ({"initial": {**INITIAL, "content": "x" * 2**20}}, f"1,048,576 characters; a message has {MOST_CONTENT:,}"),
    ],
)
def test_what_cannot_be_held_is_refused_by_name(changes: dict[str, Any], told: str | None) -> None:
    if told is None:
        assert asked(**changes).id == "5.5"  # TOML reads a bare number as one
        return
    with pytest.raises(CouncilRefused) as refused:
        asked(**changes)
    assert told in refused.value.message
