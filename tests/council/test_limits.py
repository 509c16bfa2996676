"""Tests the hard limits of councils."""

from __future__ import annotations

import math
from typing import Any

import pytest

from swarmgate.council.limits import ROUNDS, VOICE_SECONDS, within
from swarmgate.errors import CouncilRefused


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (11, "11"),
        (True, "True"),
        (2.5, "2.5"),
        ("3", "'3'"),
        ("x" * 500, "'" + "x" * 99),
        (10**401, "about 10^401"),
        pytest.param(-(10**5000), "about -10^5000", id="more-digits-than-repr-takes"),
        (math.nan, "nan"),
    ],
)
def test_a_refusal_names_the_limit_and_the_value_in_short(value: Any, shown: str) -> None:
    with pytest.raises(CouncilRefused) as refused:
        within("rounds", value, ROUNDS)
    assert refused.value.message == f"`rounds` is {shown}: the limit is 1 to 10"


def test_what_is_not_finite_keeps_to_no_bounds() -> None:
    within("timeout_s", 2.5, VOICE_SECONDS, whole=False)
    for value in (math.inf, -math.inf, math.nan, 10**401):
        with pytest.raises(CouncilRefused, match="the limit is 1 to 900 s"):
            within("timeout_s", value, VOICE_SECONDS, whole=False)
