from __future__ import annotations

import pytest

from swarmgate.domain.usage import Usage


def test_usage_adds_up() -> None:
    both = Usage(calls=1, prompt_tokens=3, cached_tokens=1, usd=0.1, seconds=1.5) + Usage(
        calls=2, completion_tokens=4, usd=0.2
    )
    assert (both.calls, both.tokens, both.cached_tokens, both.seconds) == (3, 7, 1, 1.5)
    assert both.usd == pytest.approx(0.3)


def test_an_unknown_cost_is_never_counted_as_nothing() -> None:
    assert (Usage(usd=None) + Usage(usd=1.0)).usd is None
    assert (Usage(usd=1.0) + Usage(usd=None)).usd is None


def test_what_is_counted_already_is_taken_off_and_never_more() -> None:
    whole, counted = Usage(calls=3, prompt_tokens=9, usd=0.3, seconds=2), Usage(calls=1, prompt_tokens=4, usd=0.1)
    left = whole - counted
    assert (left.calls, left.tokens, left.seconds) == (2, 5, 2)
    assert left.usd == pytest.approx(0.2)
    assert counted - whole == Usage()
    unknown = Usage(usd=None, known_usd=0.3) - counted
    assert unknown.usd is None
    assert unknown.known_usd == pytest.approx(0.2)
