from __future__ import annotations

from typing import Any

import pytest
from immutables import Map

from swarmgate.domain.base import Frozen
from swarmgate.domain.state.state import TaskStatus
from swarmgate.domain.text.cleaning import cleaned, secrets_of


class Inner(Frozen):
    text: str


class Outer(Frozen):
    inner: Inner
    several: tuple[Inner, ...]
    words: dict[str, Any]
    status: TaskStatus
    number: int


def shout(text: str) -> str:
    return text.upper()


def test_every_text_in_a_model_is_cleaned_and_nothing_else() -> None:
    found = cleaned(
        Outer(
            inner=Inner(text="a"),
            several=(Inner(text="b"),),
            words={"k": ["c", {"d": 1}]},
            status=TaskStatus.BLOCKED,
            number=3,
        ),
        shout,
    )
    assert found == Outer(
        inner=Inner(text="A"),
        several=(Inner(text="B"),),
        words={"K": ["C", {"D": 1}]},
        status=TaskStatus.BLOCKED,
        number=3,
    )
    assert Outer.model_validate_json(found.model_dump_json()) == found


def test_mappings_that_do_not_change_are_cleaned_too() -> None:
    assert cleaned(Map({"a": "b"}), shout) == {"A": "B"}


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "my_token", "DB_PASSWORD", "X_SECRET", "AWS_CREDENTIALS"])
def test_variables_that_are_named_as_secrets_are_hold_secrets(name: str) -> None:
    assert secrets_of({name: "long-enough-to-be-one"}) == ("long-enough-to-be-one",)


def test_short_values_and_other_variables_are_no_secrets() -> None:
    assert secrets_of({"API_KEY": "short", "HOME": "/home/somebody-somewhere", "KEYBOARD": "layout-of-mine"}) == ()
