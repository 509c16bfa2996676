"""A pytest plugin that reports the outcome of each test at its source, and runs canaries. PYTEST_DONT_REWRITE.

Loaded with pytest's own plugins, before any plugin, setting or conftest.py of the project. What it says of a test it
takes inside of `pytest_runtest_makereport`, within every wrapper of the project's. Canaries are items like others,
below the folder of the item that comes next, with its hooks and its autouse fixtures; only what tells of results
(terminal, reports, `--maxfail`) never sees them.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import random
import sys
import time
import types
from typing import TYPE_CHECKING, Any

import _pytest.runner
import pytest
from _pytest.fixtures import FuncFixtureInfo
from _pytest.unittest import TestCaseFunction, UnitTestCase

if TYPE_CHECKING:
    from collections.abc import Iterator

_SILENT = frozenset(
    {
        "pytest_runtest_logstart",
        "pytest_runtest_logreport",
        "pytest_runtest_logfinish",
        "pytest_exception_interact",
        "pytest_warning_recorded",
    }
)
_SECONDS = 0.02
"""What canaries between tests may take in all; those at the end of the run come on top."""
_SHARE = 0.25
"""Of the files in a folder that had some already, how many have more before them."""
_WORDS = ("bounds", "cases", "defaults", "edges", "empty", "errors", "inputs", "limits", "more", "names", "order",
          "parts", "rules", "shape", "simple", "state", "types", "values", "whole", "words")  # fmt: skip


_clock = time.perf_counter
claims: Any = None
"""What gives this process its line; put here by `startup`."""


class _Hidden:
    """A canary. Its hooks are those of its folder, but for what would tell of it."""

    seen: list[Any]
    made = False
    """Whether this process made a report of its call, and no child of it."""
    real_path: Any
    """The file of the project's tests that it stands beside: hooks are looked up by it, since its own is not there."""

    @property
    def ihook(self) -> Any:
        return _Relay(self)


class _Relay:
    def __init__(self, item: Any) -> None:
        self._item, self._hooks = item, item.session.gethookproxy(item.real_path)

    def __getattr__(self, name: str) -> Any:
        return _Silence(self._item) if name in _SILENT else getattr(self._hooks, name)


class _Silence:
    def __init__(self, item: Any) -> None:
        self._item = item

    def __call__(self, **arguments: Any) -> list[Any]:
        if "report" in arguments and "call" not in arguments:
            self._item.seen.append(arguments["report"])  # by a plugin with a protocol of its own
        return []

    def call_historic(self, **_arguments: Any) -> None:
        return


class _Function(_Hidden, pytest.Function):
    pass


class _TestCaseFunction(_Hidden, TestCaseFunction):
    pass


_Function.__name__ = _Function.__qualname__ = "Function"
_TestCaseFunction.__name__ = _TestCaseFunction.__qualname__ = "TestCaseFunction"


class _Canaries:
    """Makes and runs canaries in the order of the plan: groups of letters, capital where one must fail.

    The first group is for the first file, the last for the end of the run; every folder has one before its first file.
    """

    def __init__(self, config: Any, cases: str, plan: str) -> None:
        self._config, self._cases = config, cases
        first, *others = plan.split(".")
        self._letters = plan.replace(".", "")
        self._groups = [first, *others[:-1]]
        self._last = others[-1]
        self._next = 0
        self._left = _SECONDS
        self._folders: set[Any] = set()
        self._chance = random.Random(plan)  # noqa: S311 - the plan is what nobody can know
        self._module: Any = None
        self._decks: dict[str, list[str]] = {}

    def before(self, item: Any) -> Iterator[dict[str, Any]]:
        """Those that run before an item, where a file of tests begins."""
        place, folder = _file_of(item), item.path.parent
        if place is None or not self._groups or (self._left <= 0 and folder in self._folders):
            return
        if not set(item.session._setupstate.stack) <= set(place.parent.listchain()):  # noqa: SLF001 - no other way
            return
        if folder in self._folders and self._chance.random() > _SHARE:
            return
        self._folders.add(folder)
        began = _clock()
        for _ in self._groups.pop(0):
            yield self._run(item, place.parent, self._next, nextitem=item)
            self._next += 1
        self._left -= _clock() - began

    def at_the_end(self, session: Any) -> Iterator[dict[str, Any]]:
        """The last ones, without fixtures: those of the session are torn down by now."""
        items = [item for item in session.items if _file_of(item) is not None]
        self._decks.clear()  # there are letters enough for each kind of failure
        for number in range(len(self._letters) - len(self._last), len(self._letters) if items else 0):
            yield self._run(self._chance.choice(items), session, number, nextitem=None)

    def _run(self, item: Any, parent: Any, number: int, *, nextitem: Any) -> dict[str, Any]:
        try:
            code = self._code()
            canary = self._make(item, parent, self._letters[number], bare=nextitem is None)
        except Exception as error:  # noqa: BLE001 - a pytest that is not known fails no suite
            return {"kind": "canary", "number": number, "error": f"{type(error).__name__}: {error}"[:200]}
        canary.seen, canary.real_path = [], item.path
        del code.RAN[:]
        with _source_at(str(canary.path), self._cases):
            canary.ihook.pytest_runtest_protocol(item=canary, nextitem=nextitem)
        by_phase = {report.when: report for report in canary.seen}
        call = by_phase.get("call")
        ran = bool(code.RAN) or code.TOKEN in str(getattr(call, "longrepr", ""))
        outcomes = {when: report.outcome for when, report in by_phase.items()}
        return {"kind": "canary", "number": number, "outcomes": outcomes, "ran": ran, "here": canary.made}

    def _code(self) -> Any:
        """The canaries' module, imported as pytest imports tests: their assertions are rewritten like others."""
        if self._module is None:
            folder, file = os.path.split(self._cases)
            name = file[: -len(".py")]
            self._config.pluginmanager.rewrite_hook.mark_rewrite(name)
            sys.path.insert(0, folder)
            try:
                self._module = __import__(name)
            finally:
                sys.path.remove(folder)
                sys.modules.pop(name, None)
        return self._module

    def _make(self, item: Any, parent: Any, letter: str, *, bare: bool) -> Any:
        code, word = self._code(), self._chance.choice(_WORDS)
        place = item.path.with_name(f"test_{self._chance.choice(_WORDS)}_{word}.py")
        own = code.TestCase if letter.lower() == "u" else code
        function = _at(getattr(own, self._kind(own, letter)), str(place), f"test_{word}")
        module = pytest.Module.from_parent(parent, path=place)
        module._obj = types.ModuleType(place.stem)  # noqa: SLF001 - there is no file to import
        extra = {"fixtureinfo": _no_fixtures()} if bare or letter.lower() == "p" else {}
        if own is code:
            return _Function.from_parent(module, name=function.__name__, callobj=function, **extra)
        case = type("Test" + word.title(), (code.TestCase,), {function.__name__: function, "__module__": place.stem})
        setattr(module.obj, case.__name__, case)
        group = UnitTestCase.from_parent(module, name=case.__name__)
        return _TestCaseFunction.from_parent(group, name=function.__name__, **extra)

    def _kind(self, own: Any, letter: str) -> str:
        """How it fails, or passes: none comes again before all have come."""
        deck = self._decks.setdefault(letter, [])
        if not deck:
            prefix = "fails" if letter.isupper() else "passes"
            deck += sorted(name for name in vars(own) if name.startswith(prefix))
            self._chance.shuffle(deck)
        return deck.pop()


@contextlib.contextmanager
def _source_at(file: str, cases: str) -> Iterator[None]:
    """A traceback finds the source in a file that is not there; a search through all modules would cost 2 ms."""
    lines = linecache.getlines(cases)
    linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
    try:
        yield
    finally:
        linecache.cache.pop(file, None)


def _no_fixtures() -> Any:
    return FuncFixtureInfo(argnames=(), initialnames=(), names_closure=[], name2fixturedefs={})


def _at(function: Any, file: str, name: str) -> Any:
    """The function as if it stood in another file, by another name."""
    code = function.__code__.replace(co_filename=file, co_name=name)
    return types.FunctionType(code, function.__globals__, name)


def _file_of(item: Any) -> Any:
    """The collector of the file that an item stands in; None where there is none."""
    files = [each for each in item.listchain() if isinstance(each, pytest.File) and type(each).__name__ != "Package"]
    return files[0] if files else None


class _Witness:
    """Of one run of pytest, the outermost of its process."""

    def __init__(self, line: Any, claims: Any, manager: Any) -> None:
        self._send, self._claims, self._manager = line.send, claims, manager
        self._plan = line.plan
        self._canaries: Any = None
        self._session: Any = None
        self._numbers: dict[int, tuple[int, Any]] = {}
        self._sent: dict[tuple[str, str], tuple[int, str]] = {}
        self._begun: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        if not self._distributes(config):  # xdist's workers are Pythons that need what we put into the environment
            self._claims.remove_traces()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: Any) -> None:
        self._session = session
        self._canaries = _Canaries(session.config, self._claims.cases, self._plan)
        self._send(kind="start", runner="pytest", distributes=self._manager.hasplugin("dsession"))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        if not isinstance(item, _Hidden):
            self._begun.add(item.nodeid)
            self._run(self._canaries.before(item))
        yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtestloop(self, session: Any) -> Any:
        outcome = yield
        if outcome.excinfo is None and not session.config.option.collectonly and not session.shouldstop:
            self._run(self._canaries.at_the_end(session))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        when = call.when
        outcome = yield
        report = outcome.get_result()
        if isinstance(item, _Hidden):
            item.made = item.made or when == "call"
            return
        known = id(item) in self._numbers
        number, _ = self._numbers.setdefault(id(item), (len(self._numbers), item))
        self._sent[item.nodeid, when] = (number, report.outcome)
        if when == "call" or report.outcome != "passed" or (known and when == "setup"):
            self._send(kind="test", number=number, name=item.nodeid, when=when, outcome=report.outcome)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_logreport(self, report: Any) -> Any:
        yield
        if self._manager.hasplugin("dsession"):
            return
        self._begun.add(report.nodeid)
        number, outcome = self._sent.get((report.nodeid, report.when), (-1, "passed" if report.when != "call" else ""))
        if hasattr(report, "context"):  # of a subtest
            if report.outcome == "failed":
                self._send(kind="subtest", name=report.nodeid)
        elif report.outcome != outcome:
            self._send(kind="shown", number=number, name=report.nodeid, when=report.when, outcome=report.outcome)

    def pytest_collectreport(self, report: Any) -> None:
        if report.outcome != "passed":
            self._send(kind="file", name=report.nodeid, outcome=report.outcome)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self, config: Any) -> None:
        if self._session is not None and config is self._session.config:
            self._send(kind="end", status=int(self._session.exitstatus), left=self._left(config))
            self._claims.release()

    def _run(self, canaries: Iterator[dict[str, Any]]) -> None:
        try:
            for record in canaries:
                self._send(**record)
        except Exception as error:  # noqa: BLE001 - a pytest that is not known fails no suite
            self._send(kind="canary", number=0, error=f"{type(error).__name__}: {error}"[:200])

    def _left(self, config: Any) -> int:
        """How many tests it was to run and did not begin; a worker of xdist's is to run some of what it knows."""
        if config.option.collectonly or hasattr(config, "workerinput"):
            return 0
        return sum(item.nodeid not in self._begun for item in getattr(self._session, "items", ()))

    @staticmethod
    def _distributes(config: Any) -> bool:
        return not hasattr(config, "workerinput") and getattr(config.option, "dist", "no") != "no"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: Any, nextitem: Any) -> Any:
    """Runs canaries without telling; a protocol of the project's that comes first has them as it has any test."""
    if not isinstance(item, _Hidden):
        return None
    options = item.session.config.option  # type: ignore[attr-defined]  # it is an item
    setup_shown, options.setupshow = options.setupshow, False
    try:
        item.seen = _pytest.runner.runtestprotocol(item, log=False, nextitem=nextitem)  # type: ignore[arg-type]  # an item
    finally:
        options.setupshow = setup_shown
    return True


def pytest_addoption(pluginmanager: Any) -> None:
    """Called in every run of pytest in this process; the first one speaks."""
    line = claims.claim()
    if line is not None:
        pluginmanager.register(_Witness(line, claims, pluginmanager))
