"""Notes of guards: equal ones are one, and a loop cannot flood the ledger."""

from __future__ import annotations

from swarmgate.domain.guard import Effect, GuardNote, merged


def note(detail: str, effect: Effect = Effect.REFUSED, count: int = 1) -> GuardNote:
    return GuardNote(rule="authority", effect=effect, detail=detail, count=count)


def test_equal_notes_are_one_with_its_count() -> None:
    found = merged([note("a"), note("b"), note("a", count=3), note("a", Effect.WARNED)])
    assert [(each.detail, each.effect, each.count) for each in found] == [
        ("a", Effect.REFUSED, 4),
        ("b", Effect.REFUSED, 1),
        ("a", Effect.WARNED, 1),
    ]


def test_a_loop_leaves_a_bounded_number_and_loses_no_count() -> None:
    found = merged([note(f"path {number}") for number in range(500)] * 2)
    assert len(found) == 21
    assert sum(each.count for each in found) == 1000
    assert [each.count for each in found[:20]] == [2] * 20
