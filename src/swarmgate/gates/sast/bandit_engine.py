"""Runs bandit's tests in process, without its command line, on the syntax tree of a file.

`import bandit` takes 80 ms, of which 15 are its tests: the others are progress bars (rich), the search of every
installed package for plugins (stevedore), report formats and YAML. Here its modules for those are not imported, and the
tests that run are those that bandit's own package declares. Its visitor prepares every node of the tree for tests and
writes a log of each; here that is done for the nodes that some test asks for. What a test finds is taken in by bandit's
own code. With a bandit that is built in another way, `load` says None, and the ordinary way is taken.

It runs in a process of its own (`worker`): nothing here is imported where findings are judged.
"""

from __future__ import annotations

import ast
import importlib
import io
import logging
import re
import sys
from itertools import zip_longest
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Callable

_LOADER = "bandit.core.extension_loader"
_UNUSED = ("bandit.core.config", "bandit.core.manager", _LOADER)
"""Modules that the package imports, and that need what no test does."""

_NAMED = (ast.FunctionDef, ast.ClassDef)
"""What makes a name space, which bandit leaves after it."""

_MORE = re.compile(
    rb"pickle|dill|shelve|marshal|telnet|ftp|xml|crypt|hashlib|md[245]\b|\bsha1?\b|random|mktemp|urllib|urlopen|urlretrieve"
    rb"|eval|exec|subprocess|popen|spawn|system|shell|startfile|getoutput|statusoutput|chmod|ssl|verify|paramiko|yaml"
    rb"|snmp|communitydata|usmuserdata|autoaddpolicy|warningpolicy|debug|extractall|mark_safe|markup|safestring|jinja2"
    rb"|mako|\.extra\(|rawsql|logging\.config|torch|from_pretrained|load_dataset|_download|wsgiref|cgihandler|pyghmi"
    rb"|select\s|insert\s+into|delete\s+from|update\s+\S+\s+set"
    rb"|(?:pas+wo?r?d|pass(?:phrase)?|pwd|token|secrete?)\w*[\"']?\]?\s*(?::[^=\n]{0,60}=|:|==|=|!=)\s*[rbuf]{0,2}[\"']"
    rb"|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]|\xe2\x80\x8f",  # characters that turn the direction of text
)
"""Words of the tests in which bandit may find more than ruff: it resolves names otherwise, and has tests of its own.

Without one of them in a file there is nothing for bandit but asserts, silent handlers, addresses and temporary paths,
which ruff finds word for word (compared over 1,500 files)."""

_loaded: list[Engine | None] = []


class Engine(NamedTuple):
    """bandit loaded in process; `run` takes a file's name, content and tree and returns its issues."""

    run: Callable[[str, bytes, ast.Module], list[Any]]


def load() -> Engine | None:
    """Load bandit; None where this version cannot be used in process."""
    if not _loaded:
        try:
            _loaded.append(_built())
        except (ImportError, AttributeError, TypeError, KeyError):
            _loaded.append(None)
            for name in [name for name in sys.modules if name.partition(".")[0] == "bandit"]:
                del sys.modules[name]
    return _loaded[0]


def adds(content: bytes) -> bool:
    """Whether bandit may find something in a Python file that ruff does not."""
    return _MORE.search(content.lower()) is not None


def issues(name: str, content: bytes, tree: ast.Module) -> tuple[list[Any], str]:
    """What bandit finds in one file, and why it could not read it.

    Args:
        name: the file's.
        content: what stands in it.
        tree: the same as a syntax tree, which is bandit's afterwards: it keeps its own words on the nodes.
    """
    engine = load()
    if engine is None:
        return by_manager(name, content)
    try:
        with python_tree.quiet():
            return engine.run(name, content, tree), ""
    except Exception:  # noqa: BLE001 - as bandit says it, whatever it was
        return [], "exception while scanning file"


def by_manager(name: str, content: bytes) -> tuple[list[Any], str]:
    """Scan one file through bandit's own command, for versions that cannot be used in process."""
    logging.getLogger("stevedore").setLevel(logging.CRITICAL)  # it logs every report format that is not installed
    with python_tree.quiet():  # its plugin loader uses what is deprecated
        from bandit.core.config import BanditConfig  # type: ignore[import-untyped]  # noqa: PLC0415 - no types; late: 0.08 s
        from bandit.core.manager import BanditManager  # type: ignore[import-untyped]  # noqa: PLC0415 - late: 0.08 s

    logging.getLogger("bandit").setLevel(logging.CRITICAL)  # it logs what we read from `skipped`
    manager = BanditManager(BanditConfig(), "file", quiet=True, ignore_nosec=True)
    place = Path(name).with_suffix(".bandit")
    place.write_bytes(content)
    manager.files_list = [str(place)]
    with python_tree.quiet():
        manager.run_tests()
    return manager.results, next((why for _, why in manager.skipped), "")


def _built() -> Engine:
    loader = importlib.import_module(_LOADER) if "bandit" in sys.modules else _imported()
    tests = importlib.import_module("bandit.core.test_set")
    if not hasattr(loader, "MANAGER"):
        loader.MANAGER = _plugins()  # type: ignore[attr-defined]  # the module is made here
    defaults = SimpleNamespace(get_option=lambda _: None)
    return _engine(tests.BanditTestSet(defaults, {}))  # without options, each test has its own


def _imported() -> ModuleType:
    """Import bandit's package with empty modules in place of those that are not used; the one for its plugins."""
    empty = {name: ModuleType(name) for name in _UNUSED}
    sys.modules.update(empty)
    try:
        with python_tree.quiet():
            importlib.import_module("bandit.core.test_set")
            importlib.import_module("bandit.core.node_visitor")
    finally:
        for name in empty:
            del sys.modules[name]
    return empty[_LOADER]


def _plugins() -> SimpleNamespace:
    """The tests that bandit's package declares, as its test set reads them."""
    from importlib import metadata  # noqa: PLC0415 - late: 10 ms that a file without bandit's words must not pay

    points = metadata.distribution("bandit").entry_points
    with python_tree.quiet():
        tests = [SimpleNamespace(name=p.name, plugin=p.load()) for p in points.select(group="bandit.plugins")]
        listed = [p.load()() for p in points.select(group="bandit.blacklists")]
    blacklist: dict[str, list[dict[str, Any]]] = {}
    for node, entries in ((node, entries) for each in listed for node, entries in each.items()):
        blacklist.setdefault(node, []).extend(entries)
    by_id = {test.plugin._test_id: test for test in tests}  # noqa: SLF001 - the name that bandit gives it
    return SimpleNamespace(plugins=tests, plugins_by_id=by_id, blacklist=blacklist, builtin=["B001"])


def _engine(tests: Any) -> Engine:
    visitor = _visitor(tests, _tester(tests))

    def run(name: str, content: bytes, tree: ast.Module) -> list[Any]:
        visiting = visitor(name, io.BytesIO(content))
        visiting.process(tree)
        return list(visiting.tester.results)

    return Engine(run)


def _tester(tests: Any) -> type[Any]:
    testers = importlib.import_module("bandit.core.tester")
    contexts = importlib.import_module("bandit.core.context")

    class Tester(testers.BanditTester):  # type: ignore[misc, name-defined]  # bandit has no types
        """Runs each test on a node and collects its issues."""

        def run_tests(self, raw: dict[str, Any], kind: str) -> dict[str, list[int]]:
            context = contexts.Context(raw)
            for test in tests.get_tests(kind):
                try:
                    issue = test(context, test._config) if hasattr(test, "_config") else test(context)  # noqa: SLF001 - bandit's
                except Exception:  # noqa: BLE001, S112 - bandit too goes on to the next test
                    continue
                if issue is not None:
                    self._take(test, raw, kind)
            return {}

        def _take(self, test: Any, raw: dict[str, Any], kind: str) -> None:
            only = SimpleNamespace(get_tests=lambda _: [test])
            alone = testers.BanditTester(only, False, {}, self.metrics)
            alone.run_tests(raw, kind)
            self.results += alone.results

    return Tester


def _below(node: ast.AST) -> list[tuple[Any, Any]]:
    """The nodes right below one, each with what follows it in a list."""
    found: list[tuple[Any, Any]] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [(each, after) for each, after in zip_longest(value, value[1:]) if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append((value, None))
    return found


def _visitor(tests: Any, tester: type[Any]) -> type[Any]:
    visitors = importlib.import_module("bandit.core.node_visitor")
    metrics = importlib.import_module("bandit.core.metrics")

    class Visitor(visitors.BanditNodeVisitor):  # type: ignore[misc, name-defined]  # bandit has no types
        """Visits only the nodes that a test, or bandit's own name resolution, needs."""

        def __init__(self, name: str, file: Any) -> None:
            counted = metrics.Metrics()
            counted.begin(name)
            super().__init__(name, file, None, tests, False, {}, counted)
            self.tester = tester(tests, False, {}, counted)

        def generic_visit(self, node: ast.AST) -> None:
            """Visit every node below in bandit's order; sets each node's parent and next sibling."""
            for child, sibling in _below(node):
                child._bandit_sibling, child._bandit_parent = sibling, node  # noqa: SLF001 - bandit's names
                kind = type(child)
                if kind.__name__ in visited:
                    self.pre_visit(child)
                    self.visit(child)
                if kind._fields:
                    self.generic_visit(child)
                if kind in _NAMED:
                    self.post_visit(child)

        def process(self, tree: ast.Module) -> None:
            """Visit the parsed nodes, then run the tests of whole files, as bandit's own visitor does."""
            self.generic_visit(tree)
            self.context = {"file_data": self.fdata, "filename": self.fname, "lineno": 0, "linerange": [0, 1]}
            self.context["col_offset"] = 0
            self.tester.run_tests(self.context, "File")

        def update_scores(self, scores: dict[str, list[int]]) -> None:
            """Do nothing: the scores are not used."""

    visited = {name.removeprefix("visit_") for name in dir(Visitor) if name.startswith("visit_")} | set(tests.tests)
    return Visitor
