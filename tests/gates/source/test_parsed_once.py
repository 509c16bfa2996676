"""Tests that every changed file is parsed once in each revision, for all gates together."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

PYTHON = "import os\n\n\ndef load(path, mode='r'):\n    # TODO: mend this\n    return os.system(path + mode)\n"
TEST = "from a import load\n\n\ndef test_load():\n    # TODO: mend this\n    assert load('a') == 1\n"
SCRIPT = "import { a } from './b'\n// TODO: mend this\nexport function load(path: string) {\n  return eval(path)\n}\n"
GO = 'package a\n\nimport "fmt"\n\n// TODO: mend this\nfunc Load(path string) { fmt.Println(path) }\n'


class Parses:
    """What is parsed: Python's compiler and our grammars raise an audit event for each, whoever asks them."""

    def __init__(self) -> None:
        self.seen: Counter[tuple[object, bytes]] = Counter()
        self.counting = False
        self._hooked = False

    def begin(self) -> None:
        if not self._hooked:  # for good: a hook cannot be taken away
            sys.addaudithook(self._count)
        self._hooked = self.counting = True
        self.seen.clear()

    def _count(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.counting and event in {"compile", "swarmgate.parse"}:
            parser, content = ("compiler", arguments[0]) if event == "compile" else arguments
            if isinstance(content, bytes | str) and not _is_bandit():
                self.seen[parser, content.encode() if isinstance(content, str) else content] += 1


def _is_bandit() -> bool:
    """bandit marks the nodes of the tree that it walks, so that it makes one of its own."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and not str(frame.f_globals.get("__name__")).startswith("bandit."):
        frame = frame.f_back
    return frame is not None


PARSES = Parses()


@pytest.fixture
def parses() -> Iterator[Parses]:
    PARSES.begin()
    yield PARSES
    PARSES.counting = False


@pytest.mark.slow  # every gate, some of which are processes
@pytest.mark.parametrize(
    ("language", "path", "text"),
    [
        ("python", "a.py", PYTHON),
        ("python", "tests/test_a.py", TEST),
        ("typescript", "a.ts", SCRIPT),
        ("go", "a/a.go", GO),
    ],
)
def test_a_revision_is_parsed_once(project: Any, parses: Parses, language: str, path: str, text: str) -> None:
    project.commit_files({path: text, "pyproject.toml": "[project]\nname = 'x'\nrequires-python = '>=3.9'\n"})
    changed = text.replace("load", "store").replace("mend", "change").replace("Load", "Store")
    project.write(path, changed)
    results = {each.gate: each for each in project.run(fix=False).results}
    assert "marker" in [each.rule for each in results["placeholder_scan"].findings]
    assert results["diff"].files == 1
    revisions = {changed.encode(), text.encode()}
    counts = {(parser, content): count for (parser, content), count in parses.seen.items() if content in revisions}
    expected = "compiler" if language == "python" else language
    assert {(expected, content) for content in revisions} <= counts.keys()
    assert set(counts.values()) == {1}
    if language == "python":  # and it is shared because nobody changes it
        assert ast.dump(python_tree.parse(changed.encode())) == ast.dump(ast.parse(changed))
