"""Matches assertions that a test lost with assertions that the change added to other tests."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from swarmgate.gates.test_integrity.suites.tokens import CONSTANTS, is_number, is_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from swarmgate.gates.test_integrity.matching import Matching
    from swarmgate.gates.test_integrity.suites.model import Assertion, Case
    from swarmgate.gates.test_integrity.suites.tokens import Tokens

_NEVER = {("0",), ("False",), ("false",)}
"""What holds in no case."""

MOST = 0.75
"""The share of a test's assertions that have to stand elsewhere, for the test to be there."""

_MANY = 4
"""Telling values from which on those that tests have in common say that they test the same."""

_LONG = 5
"""Characters of a telling string, with its quotes; digits of a telling number."""


class Pool:
    """The new assertions, table rows and asserting helpers of a change."""

    def __init__(self, matching: Matching) -> None:
        self.lines: Counter[Tokens] = Counter()
        self.fresh = [case for case in matching.fresh if not case.off and not case.helper]
        for old, new in matching.pairs:
            if (old.text, old.shell) != (new.text, new.shell) and not new.off:
                self.lines += _runs(new) - _runs(old)
        for case in matching.fresh:
            if not case.off:
                self.lines += _runs(case)
        stay = (new for _, new in matching.pairs)
        self.helpers = {case.short for case in (*matching.fresh, *stay) if case.helper and case.assertions}
        self._rows = _fresh_rows(matching)
        grown = [(new, len(new.rows) - max(1, len(old.rows))) for old, new in matching.pairs if _runs_more(old, new)]
        self._with_tables = [*self.fresh, *(new for new, _ in grown)]
        self._tables = {id(case): len(case.rows) for case in self.fresh} | {id(new): more for new, more in grown}
        self._left = {id(case): sum(int(each.effect) for each in case.assertions) for case in self.fresh}

    def take(self, each: Assertion) -> bool:
        """Whether the same assertion was added elsewhere; each new assertion counts once."""
        if self.lines[each.text] > 0:
            self.lines[each.text] -= 1
            return True
        return False

    def covers(self, case: Case) -> bool:
        """Whether other tests contain what a removed test asserted: merged, split, parametrised."""
        required = [each for each in case.assertions if not each.idle]
        if required and not case.helper and "(" not in case.text and all(each.text in _NEVER for each in required):
            return True  # it only said that somebody has to write it
        if not case.helper and self._is_row(case, required):
            return True
        if not required:  # that it runs through is asked by a test without assertions, too
            return case.helper or bool(case.assertions)
        if case.helper:
            return any(self.take(each) for each in required)
        if sum(self.take(each) for each in required) >= len(required) * MOST:
            for fresh in self.fresh:  # a row of it is this test now
                self._tables[id(fresh)] -= any(each.text == required[0].text for each in fresh.assertions)
            return True
        return self._in_table(case) or self._in_units(case, required)

    def _in_table(self, case: Case) -> bool:
        """Whether a test with new rows in its table does what this one did; it stands for as many as there are."""
        for fresh in self._with_tables:
            if self._tables[id(fresh)] > 0 and _takes_over(case, fresh):
                self._tables[id(fresh)] -= 1
                return True
        return False

    def _is_row(self, case: Case, assertions: Iterable[Assertion]) -> bool:
        """Whether the class of the test runs a new table, one more row of which may be the test; each row is one."""
        place = (case.path, _class(case))
        strength = max((each.effect for each in assertions), default=0)
        if self._rows.get(place, (0, 0))[0] < 1 or self._rows[place][1] < strength:
            return False
        rows, most = self._rows[place]
        self._rows[place] = rows - 1, most
        return True

    def _in_units(self, case: Case, assertions: Iterable[Assertion]) -> bool:
        """Whether new tests of the same file hold the values that a test compared, and ask for as much together."""
        values = {each for one in assertions for each in one.text if _is_telling(each)}
        near = [fresh for fresh in self.fresh if fresh.path == case.path]
        held = [fresh for fresh in near if values & set(fresh.text) and self._left[id(fresh)] > 0]
        known = {each for fresh in held for each in fresh.text}
        worth = sum(int(each.effect) for each in assertions)
        if len(values) < _MANY or len(values & known) < len(values) or sum(self._left[id(f)] for f in held) < worth:
            return False
        for fresh in held:
            used = min(worth, self._left[id(fresh)])
            self._left[id(fresh)] -= used
            worth -= used
        return True


def _runs(case: Case) -> Counter[Tokens]:
    """The assertions of a test as often as its table runs them."""
    required = Counter(each.text for each in case.assertions if not each.idle)
    times = max(1, len(case.rows)) if required and not case.helper else 1
    return Counter({text: count * times for text, count in required.items()})


def _runs_more(old: Case, new: Case) -> bool:
    """Whether a test that stays has a table now, or a longer one."""
    return len(new.rows) > max(1, len(old.rows)) and not new.off and not new.helper


def _class(case: Case) -> str:
    return case.name.rpartition(".")[0]


def _fresh_rows(matching: Matching) -> dict[tuple[str, str], tuple[int, int]]:
    """By class: how many rows came into the table that it runs its tests with, and the most that a test asks for."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for old, new in (*matching.pairs, *((None, case) for case in matching.fresh)):
        if not new.shared_rows or new.off or new.helper:
            continue
        added = new.shared_rows - (old.shared_rows if old else 0)
        rows, most = found.get((new.path, _class(new)), (0, 0))
        found[new.path, _class(new)] = max(rows, added), max(most, *(each.effect for each in new.assertions), 0)
    return found


def _is_telling(token: str) -> bool:
    if token in CONSTANTS:
        return False
    return (is_text(token) and len(token) >= _LONG) or (is_number(token) and len(token) >= _LONG - 2)


def _takes_over(case: Case, fresh: Case) -> bool:
    """Whether a new test with a table does what the old one did."""
    if sum(each.effect for each in fresh.assertions) < max(each.effect for each in case.assertions):
        return False
    tokens = [token for each in case.assertions for token in each.expected + each.subject]
    values = {token for token in tokens if token[0] in "\"'`" or token[0].isdigit()}
    called = {token for each in case.assertions for token in each.subject if token[0].isalpha()}
    known = {*fresh.text, *fresh.shell, *(token for row in fresh.rows for token in row)}
    return len(values & known) >= len(values) * MOST and len(called & known) * 2 >= len(called)
