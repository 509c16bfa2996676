"""Conditions of tasks: what holds, and what is no condition."""

from __future__ import annotations

import pytest

from swarmgate.errors import UsageError
from swarmgate.server.reference.conditions import holds

CONTEXT = {"count": 3, "mode": "slow", "on": True, "nested": {"name": "it's"}, "none": None}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("context.count >= 3", True),
        ("context.count > 3", False),
        ("context.count === 3 && context.mode == 'slow'", True),
        ("context.count < 1 || context.on", True),
        ('!(context.mode == "fast") && !context.none', True),
        ("context.mode != 'slow' || context.count <= 2", False),
        ("context.nested.name == 'it\\'s'", True),
        ("context.missing.deeper == null", True),
        ("context.missing !== undefined", False),
        ("context.on == 1", False),  # true is no number
        ("context.count == '3'", False),  # and a number no text
        ("context.mode > 1", False),
        ("context.on || context.count == 0 && false", True),  # && binds more
        ("-1.5 < context.count", True),
        ("true", True),
    ],
)
def test_what_holds(condition: str, *, expected: bool) -> None:
    assert holds(condition, CONTEXT) is expected


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("", "lacks a value"),
        ("context.count >=", "lacks a value"),
        ("context.count >= 3 3", "goes on behind its end"),
        ("(context.on", "not closed"),
        ("process.exit()", "cannot be read at 'process.exit()'"),
        ("context.constructor('x')", "goes on behind its end"),
        ("truefalse", "cannot be read"),
        ("!" * 80 + "true", "nested too deeply"),
        ("(" * 80 + "true" + ")" * 80, "nested too deeply"),
    ],
)
def test_what_is_none(condition: str, told: str) -> None:
    with pytest.raises(UsageError, match=told.replace("(", r"\(").replace(")", r"\)")):
        holds(condition, CONTEXT)
