"""Hooks into unittest: reports the outcome of each test, and runs canaries before, between and after them."""

from __future__ import annotations

import io
import os
import random
import unittest.case
import unittest.result
from typing import Any

_OUTCOMES = {
    "addSuccess": "passed",
    "addExpectedFailure": "passed",
    "addUnexpectedSuccess": "failed",
    "addFailure": "failed",
    "addError": "failed",
    "addSkip": "skipped",
}
_SHARE = 0.25
"""How many of the classes have a canary before them."""

claims: Any = None
"""What gives this process its line; put here by `startup`."""


class _Cases(unittest.case.TestCase):
    """The code of canaries."""

    ran = False

    def fails_by_equality(self) -> None:
        self.ran = True
        self.assertEqual(self.id(), "another")  # noqa: PT009 - unittest's own is what is to be shown

    def fails_by_call(self) -> None:
        self.ran = True
        self.fail(self.id())

    def fails_by_assert(self) -> None:
        self.ran = True
        if os.getpid():
            raise AssertionError(self.id())

    def fails_by_error(self) -> None:
        self.ran = True
        raise ValueError(self.id())

    def fails_by_missing_error(self) -> None:
        self.ran = True
        with self.assertRaises(KeyError):  # noqa: PT027 - a case of unittest
            len(self.id())

    def passes(self) -> None:
        self.ran = True
        self.assertTrue(self.id())  # noqa: PT009 - a case of unittest


class _Canaries:
    """Runs canaries in the order of the plan: a letter each, capital where it must fail."""

    def __init__(self, line: Any, made: Any) -> None:
        self._send, self._made = line.send, made
        self._plan, self._last = line.plan.replace(".", ""), len(line.plan.rpartition(".")[2])
        self._number = 0
        self._chance = random.Random(line.plan)  # noqa: S311 - the plan is what nobody can know
        self._seen: set[type] = set()
        self._decks: dict[bool, list[str]] = {}

    def before(self, case: Any) -> None:
        known = type(case) in self._seen
        self._seen.add(type(case))
        if not known and self._number < len(self._plan) // 2 and self._chance.random() < _SHARE:
            self.run()

    def at_the_end(self) -> None:
        """As many as there are kinds of failure, and more."""
        self._decks.clear()
        self._number = len(self._plan) - self._last
        for _ in range(self._last):
            self.run()

    def run(self) -> None:
        number, self._number = self._number, self._number + 1
        must_fail = self._plan[number].isupper()
        deck = self._decks.setdefault(must_fail, [])
        if not deck:
            deck += sorted(name for name in vars(_Cases) if name.startswith("fails" if must_fail else "passes"))
            self._chance.shuffle(deck)
        body = deck.pop()
        name = f"test_{self._chance.choice(('cases', 'edges', 'limits', 'order', 'parts', 'rules', 'values'))}"
        case = type("TestMore", (_Cases,), {name: vars(_Cases)[body]})(name)
        outcomes: list[str] = []
        _listen(self._made(), lambda _case, outcome: outcomes.append(outcome), case)
        call = "failed" if "failed" in outcomes else outcomes[-1] if outcomes else "none"
        self._send(kind="canary", number=number, outcomes={"setup": "passed", "call": call}, ran=case.ran, here=True)


def _listen(result: Any, report: Any, case: Any = None) -> Any:
    """Makes a result report each outcome before it stores it. With `case`, that is run with it."""
    for name, outcome in _OUTCOMES.items():
        own = getattr(result, name, None)
        if own is not None:
            setattr(result, name, _reporting(own, outcome, report))
    subtest = getattr(result, "addSubTest", None)
    if subtest is not None:

        def add_subtest(test: Any, each: Any, error: Any) -> Any:
            if error is not None:
                report(test, "failed")
            return subtest(test, each, error)

        result.addSubTest = add_subtest
    if case is not None:
        case(result)
    return result


def _reporting(own: Any, outcome: str, report: Any) -> Any:
    def reporting(test: Any, *arguments: Any, **named: Any) -> Any:
        report(test, outcome)
        return own(test, *arguments, **named)

    return reporting


class _Session:
    """One run of a runner, the outermost of its process."""

    def __init__(self, line: Any, runner: Any) -> None:
        self._send, self._runner, self._count = line.send, runner, 0
        self._make = runner._makeResult  # noqa: SLF001 - what every runner of unittest's has
        self.canaries = _Canaries(line, self._unheard)

    def _unheard(self) -> Any:
        """A result like the runner's, whose stream nobody reads."""
        stream = self._runner.stream
        try:
            self._runner.stream = type(stream)(io.StringIO())
            return self._make()
        except Exception:  # noqa: BLE001 - a runner of the project's own, of which little is known
            return unittest.result.TestResult()
        finally:
            self._runner.stream = stream

    def run(self, run: Any, test: Any) -> Any:
        """The runner's own run, with canaries around it."""
        self._send(kind="start", runner="unittest", distributes=False)
        self._runner._makeResult = self._result  # noqa: SLF001 - there is no public one
        self.canaries.run()
        self.canaries.run()
        try:
            result = run(self._runner, test)
        finally:
            del self._runner._makeResult  # noqa: SLF001 - there is no public one
        self.canaries.at_the_end()
        self._send(kind="end", status=0 if result.wasSuccessful() else 1, left=0)
        return result

    def _result(self) -> Any:
        result = _listen(self._make(), self._report)
        start = result.startTest

        def start_test(test: Any) -> Any:
            self.canaries.before(test)
            return start(test)

        result.startTest = start_test
        return result

    def _report(self, test: Any, outcome: str) -> None:
        self._count += 1
        self._send(kind="test", number=self._count, name=str(test), when="call", outcome=outcome)


def install(runner: Any) -> None:
    """Wraps the runner of unittest with the witness."""
    own = runner.TextTestRunner.run

    def run(self: Any, test: Any) -> Any:
        line = claims.claim()
        if line is None:
            return own(self, test)
        claims.remove_traces()
        try:
            return _Session(line, self).run(own, test)
        finally:
            claims.release()

    runner.TextTestRunner.run = run
