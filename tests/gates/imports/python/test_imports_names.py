"""Tests the check for names that do not exist in the standard library, Node or the project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus, Severity
from swarmgate.gates.imports.python.check import PythonChecker
from swarmgate.gates.imports.script.check import ScriptChecker
from swarmgate.gates.project.view import View
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import Finding

    Project = Any

PYPROJECT = '[project]\nname = "shop"\nversion = "0"\nrequires-python = ">=3.11"\n'
STORE = """\
from abc import ABC


class Base(ABC):
    def close(self): ...


class Store(Base):
    size: int = 0

    def __init__(self, path=None):
        self.path = path

    def get(self, key, default=None):
        return key

    @classmethod
    def of(cls, path): ...

    @staticmethod
    def key(name): ...


class Open:
    def __getattr__(self, name): ...


class Foreign(Unknown): ...


def load(path): ...


def dump(value, *, indent=None): ...


@decorated
def wrapped(): ...
"""


def _judge(project: Project, path: str, text: str, **others: str) -> list[Finding]:
    """The findings of a file beside some others, without the gate around them."""
    files = {"pyproject.toml": PYPROJECT, "src/shop/__init__.py": "", "src/shop/store.py": STORE, **others, path: text}
    project.commit_files(files)
    repository = Repository.discover(project.root)
    view = View(repository, repository.head_tree())
    checker = PythonChecker(view) if path.endswith(".py") else ScriptChecker(view)
    return checker.check(path, text.encode())


def _messages(findings: list[Finding]) -> list[tuple[int, str, str]]:
    return [(each.line, each.rule, each.message.split(": ")[0]) for each in findings]


@pytest.mark.slow
def test_the_names_of_the_standard_library_are_known(project: Project) -> None:
    text = (
        "from json import parse, loads\nimport os.paths, os.path\nfrom datetime import datetime as dt\n"
        "import concurrent.futures as cf\nfrom pathlib import Path\nimport json, os\n\n\n"
        "def f(p):\n    json.stringify(p)\n    os.path.joins(p, p)\n    dt.now().astimezone()\n    dt.utc_now()\n"
        "    Path(p).readtext()\n    cf.ThreadPool()\n    json.dumps(p), os.path.join(p), Path.cwd().parent\n"
    )
    found = _judge(project, "src/shop/use.py", text)
    assert {each.severity for each in found} == {Severity.HIGH}
    assert _messages(found) == [
        (1, "unresolved-name", "`json` has no `parse`"),
        (2, "unresolved-module", "the standard library has no `os.paths`"),
        (10, "unresolved-attribute", "the module `json` has no `stringify`"),
        (11, "unresolved-attribute", "the module `os.path` has no `joins`"),
        (13, "unresolved-attribute", "the class `datetime.datetime` has no `utc_now`"),
        (14, "unresolved-attribute", "the class `pathlib.Path` has no `readtext`"),
        (15, "unresolved-attribute", "the module `concurrent.futures` has no `ThreadPool`"),
    ]
    assert found[1].suggestion == "did you mean `os.path`?"


@pytest.mark.parametrize(
    "text",
    [
        "import json\nif hasattr(json, 'parse'):\n    json.parse('')\n",
        "import json\ntry:\n    json.parse('')\nexcept AttributeError:\n    pass\n",
        "try:\n    from json import parse\nexcept ImportError:\n    parse = None\n",
        "import sys, itertools\nif sys.version_info >= (3, 12):\n    itertools.batched('', 2)\n",
        "import sys\nif sys.version_info >= (3, 12):\n    from itertools import batched\n",
        "import json\n\n\ndef f(json):\n    return json.parse('')\n",
        "import json\njson = make()\njson.parse('')\n",
        "import json\njson.parse = str\njson.parse('')\n",
        "import os, signal, msvcrt\nos.startfile('x'), signal.CTRL_C_EVENT, msvcrt.getch()\n",
        "import logging\nlogging.os, logging._levelToName\n",
        "import argparse\nargparse.Namespace(a=1).a\n",
        "import types\ntypes.SimpleNamespace(a=1).a\n",
        "from enum import Enum\n\n\nclass Colour(Enum):\n    RED = 1\n\n\nColour.RED.name, Colour.RED.label\n",
    ],
)
def test_what_may_be_there_is_left_alone(project: Project, text: str) -> None:
    assert _judge(project, "src/shop/use.py", text) == []


def test_a_name_of_another_version_is_told_with_its_version(project: Project) -> None:
    text = "from itertools import batched\nimport asyncio\n\nasyncio.coroutine(print)\n"
    versions = [f"`itertools` has `batched` {lacking}" for lacking in (
        "only from Python 3.12 on, and the project supports 3.11",)]  # fmt: skip
    found = _judge(project, "src/shop/use.py", text)
    assert [each.message for each in found[:1]] == versions
    assert found[0].severity is Severity.MEDIUM
    assert [each.line for each in found] == [1, 4]
    later = PYPROJECT.replace("3.11", "3.12")
    assert [each.line for each in _judge(project, "src/shop/use.py", text, **{"pyproject.toml": later})] == [4]


def test_attributes_and_arguments_of_the_projects_own_code(project: Project) -> None:
    text = (
        "from shop import store\nfrom shop.store import Foreign, Open, Store, dump, load, wrapped\n\n\n"
        "def f(x):\n    store.save(x)\n    Store().put(x)\n    Store(1, 2)\n    s = Store(path=x)\n    s.fetch()\n"
        "    s.get()\n    load(1, 2)\n    dump(x, depth=1)\n    Store.of()\n    Store.key(1, 2)\n"
        "    s.get(1), s.size, s.path, s.close(), Store.get(s, 1), Store.of(x), Store.key(x), dump(x, indent=1)\n"
        "    Open().any(), Foreign().any(), wrapped(1, 2, 3), load(*x), dump(**x)\n"
    )
    found = _judge(project, "src/shop/use.py", text)
    assert found[6].message.endswith("the call passes `depth=`, which is no parameter")
    assert _messages(found) == [
        (6, "unresolved-attribute", "the module `shop.store` has no `save`"),
        (7, "unresolved-attribute", "the class `Store` has no `put`"),
        (8, "wrong-arguments", "`Store` cannot be called like this"),
        (10, "unresolved-attribute", "the class `Store` has no `fetch`"),
        (11, "wrong-arguments", "`Store.get` cannot be called like this"),
        (12, "wrong-arguments", "`load` cannot be called like this"),
        (13, "wrong-arguments", "`dump` cannot be called like this"),
        (14, "wrong-arguments", "`Store.of` cannot be called like this"),
        (15, "wrong-arguments", "`Store.key` cannot be called like this"),
    ]


def test_an_object_is_of_the_class_that_the_function_says_it_returns(project: Project) -> None:
    making = (
        "from shop.store import Store\n\n\ndef make(path) -> Store: ...\n\n\ndef named(path) -> 'Store': ...\n\n\n"
        "def perhaps(path) -> Store | None: ...\n\n\nasync def later(path) -> Store: ...\n"
    )
    text = (
        "from shop.making import later, make, named, perhaps\n\n\n"
        "def f(x):\n    one = make(x)\n    one.put(x)\n    one.get(1), one.size\n    named(x).put(x)\n"
        "    perhaps(x).put(x), later(x).put(x)\n"
    )
    found = _messages(_judge(project, "src/shop/use.py", text, **{"src/shop/making.py": making}))
    assert found == [
        (6, "unresolved-attribute", "the class `Store` has no `put`"),
        (8, "unresolved-attribute", "the class `Store` has no `put`"),
    ]


def test_what_a_class_asks_of_itself_is_judged_where_no_other_derives_from_it(project: Project) -> None:
    text = (
        "import threading\nfrom shop.store import Base, Store\n\n\n"
        "class Till:\n    def pay(self):\n        self.book()\n\n\n"
        "class ReadMixin:\n    def read(self):\n        self.get_object()\n\n\n"
        "class Worker(threading.Thread):\n    def run(self):\n        self._target(), self.name, self.stop_now()\n\n\n"
        "def f(store: Store, base: Base):\n    store.fetch(), base.fetch()\n\n\n"
        "class Old(dict):\n    def __missing__(self, key): ...\n\n\nOld([1]), Old(a=1)\n"
    )
    assert _messages(_judge(project, "src/shop/use.py", text)) == [
        (7, "unresolved-attribute", "the class `Till` has no `book`"),
        (17, "unresolved-attribute", "the class `Worker` has no `stop_now`"),
        (21, "unresolved-attribute", "the class `Store` has no `fetch`"),
    ]
    below = {"src/shop/below.py": "from shop.use import Till\n\n\nclass Other(Till): ...\n"}
    assert [each.line for each in _judge(project, "src/shop/use.py", text, **below)] == [17, 21]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("src/shop/patches.py", "from shop import store\nstore.Store.put = store.load\nstore.save = store.load\n"),
        (
            "tests/test_x.py",
            "def test(monkeypatch):\n    monkeypatch.setattr('store.save', 1)\n    patch('x.put')\n",
        ),
    ],
)
def test_what_another_file_replaces_is_not_certain(project: Project, path: str, content: str) -> None:
    text = "from shop import store\nfrom shop.store import Store\n\nstore.save(1)\nStore().put(1)\n"
    assert _judge(project, "src/shop/use.py", text, **{path: content}) == []


def test_a_module_that_makes_names_and_a_name_of_a_scope_of_its_own(project: Project) -> None:
    made = "from enum import global_enum, Enum\nfor name in 'ab':\n    globals()[name] = 1\n\n\ndef load(a): ...\n"
    text = (
        "from shop import made\nfrom shop.store import load\n\nmade.anything(1), made.load(1, 2)\n\n\n"
        "def f():\n    def load(): ...\n    load()\n\n\n"
        "class C:\n    @property\n    def load(self): ...\n\n    @load.setter\n    def load(self, value): ...\n"
    )
    assert _judge(project, "src/shop/use.py", text, **{"src/shop/made.py": made}) == []


def test_the_names_of_nodes_own_modules_are_known(project: Project) -> None:
    text = (
        "const fs = require('fs');\nconst { readFil, join } = require('path');\nimport * as os from 'os';\n"
        "import util, { promisfy, type InspectOptions } from 'node:util';\nfs.readFil('x');\nfs.readFile('x');\n"
        "os.cpuCount();\nrequire('crypto').sha256('x');\nutil.promisify(fs.readFile);\nfs.promises.readFile('x');\n"
        "function f(fs) { return fs.whatever(); }\nfunction g(x) { return fs.readFileSyn(x); }\n"
    )
    found = _judge(project, "src/a.ts", text)
    assert [(each.line, each.rule, each.message) for each in found] == [
        (4, "unresolved-name", "Node's `node:util` has no `promisfy`"),
        (2, "unresolved-attribute", "Node's `path` has no `readFil`"),
        (5, "unresolved-attribute", "Node's `fs` has no `readFil`"),
        (7, "unresolved-attribute", "Node's `os` has no `cpuCount`"),
        (8, "unresolved-attribute", "Node's `crypto` has no `sha256`"),
        (12, "unresolved-attribute", "Node's `fs` has no `readFileSyn`"),
    ]
    assert {each.severity for each in found} == {Severity.HIGH}


@pytest.mark.parametrize(
    "text",
    [
        "const fs = require('fs');\nif (fs.foo) fs.foo();\n",
        "const fs = require('fs');\nfs.foo && fs.foo();\n",
        "const fs = require('fs');\nconst f = fs.foo || null;\n",
        "const fs = require('fs');\nfs.foo?.();\n",
        "const fs = require('fs');\ntry { fs.foo(); } catch { }\n",
        "const fs = require('fs');\nfs.foo = 1;\nfs.foo();\n",
        "let fs = require('fs');\nfs = wrap(fs);\nfs.foo();\n",
        "const { foo = null } = require('fs');\n",
        "const E = require('events');\nnew E(); E.once(); E.prototype.on; E.EventEmitter;\n",
        "import { events } from './events';\nevents.foo();\n",
        "const fs = require('fs');\nif (process.version > 'v30') fs.foo();\n",
    ],
)
def test_what_a_script_asks_for_or_makes_is_left_alone(project: Project, text: str) -> None:
    found = _judge(project, "src/a.js", text, **{"src/events.js": "export const events = 1;\n"})
    assert found == []


def test_a_package_of_the_name_of_a_module_goes_before_it(project: Project) -> None:
    package = '{"name": "x", "dependencies": {"util": "1"}}'
    text = "const util = require('util');\nutil.foo();\n"
    assert _judge(project, "src/a.js", text, **{"package.json": package}) == []


@pytest.mark.slow
def test_a_name_that_does_not_exist_blocks_and_an_old_one_does_not(project: Project) -> None:
    project.commit_files({"a.py": "import json\n\njson.parse('')\n"})
    project.write("a.py", "import json\n\njson.parse('')\n\n\ndef f(x):\n    return json.stringify(x)\n")
    result = project.gate("imports")
    assert result.status is GateStatus.FAIL
    assert [(each.line, each.new) for each in result.findings] == [(3, False), (7, True)]
