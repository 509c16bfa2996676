"""The fold of executions into metrics."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from swarmgate.domain.metrics import PATTERNS, Execution, measured
from swarmgate.domain.usage import Usage


def one(pattern: Any, name: str, tokens: int = 10, status: Any = "complete", **more: Any) -> Execution:
    return Execution(pattern=pattern, id=name, status=status, usage=Usage(calls=1, prompt_tokens=tokens), **more)


def test_rates_and_means_are_of_those_that_have_the_value() -> None:
    found = measured(
        [
            one("decision", "a", converged=True, rounds=2, score=1.0, seconds=4),
            one("decision", "b", converged=False, rounds=3, score=0.5, seconds=2),
            one("decision", "c", status="open"),
            Execution(pattern="decision", id="d", status="damaged", why="no JSON"),
            one("critique", "e", status="failed"),
        ]
    )
    decision, critique, total = found
    assert (decision.executions, decision.complete, decision.open, decision.damaged) == (4, 2, 1, ("d: no JSON",))
    assert (decision.convergence_rate, decision.rounds, decision.score, decision.seconds) == (0.5, 2.5, 0.75, 3)
    assert (critique.failed, critique.improvement, critique.convergence_rate) == (1, None, None)
    assert (total.pattern, total.executions, total.usage.tokens, total.score) == ("total", 5, 40, None)


def test_what_is_a_part_is_counted_in_its_whole_once() -> None:
    found = {
        each.pattern: each
        for each in measured(
            [
                one("orchestration", "o", 30),
                one("debate", "o.d", 10, part_of="o"),
                one("decision", "o.v", 20, part_of="o"),
                one("discussion", "o.v.seat", 15, part_of="o.v"),
                one("debate", "p.d", 7, part_of="p"),  # what it was a part of is not there any more
                one("debate", "q", 1),
                one("debate", "o.x", 1),  # called like one, and is none
                Execution(pattern="critique", id="torn", status="damaged", why="no JSON"),
                one("debate", "torn.x", 1, part_of="torn"),  # what cannot be read counts nothing as its own
            ]
        )
    }
    assert (found["debate"].executions, found["debate"].parts, found["debate"].usage.tokens) == (5, 1, 20)
    assert (found["decision"].parts, found["discussion"].parts) == (1, 1)
    assert (found["total"].parts, found["total"].usage.tokens) == (3, 40)


def test_nothing_on_record_is_nothing() -> None:
    assert measured([]) == ()


EXECUTIONS = st.lists(
    st.builds(
        one,
        st.sampled_from(PATTERNS),
        st.sampled_from(["a", "b", "a.x", "a.x.1", "b.y"]),
        st.integers(0, 99),
        st.sampled_from(["complete", "failed", "open"]),
        part_of=st.sampled_from(["", "a", "a.x"]),
        converged=st.none() | st.booleans(),
        score=st.none() | st.floats(0, 1),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(EXECUTIONS, st.randoms())
def test_order_changes_nothing_and_the_lines_add_up(found: list[Execution], random: Any) -> None:
    mixed = list(found)
    random.shuffle(mixed)
    metrics = measured(found)
    key = [(each.pattern, each.executions, each.usage.tokens, each.parts) for each in metrics]
    assert key == [(each.pattern, each.executions, each.usage.tokens, each.parts) for each in measured(mixed)]
    assert sum(each.executions for each in metrics[:-1]) == len(found)
    for each in metrics:
        assert each.complete + each.failed + each.open == each.executions
        assert each.convergence_rate is None or 0 <= each.convergence_rate <= 1
    assert not found or metrics[-1].usage.tokens <= sum(each.usage.tokens for each in found)
