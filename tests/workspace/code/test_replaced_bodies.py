"""Bodies of functions in JavaScript, TypeScript and Go are replaced where they are new or changed, and nowhere else."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from swarmgate.workspace.code import grammars
from swarmgate.workspace.code.instrumentation import Mode
from swarmgate.workspace.code.replaced_bodies import replaceable

OLD = b"function old(a) {\n  return a\n}\n"
NEW = (
    OLD
    + b"""function add(a, b) {
  return a + b
}
const even = (n) => n % 2 === 0
const box = (a) => ({ a })
class Box {
  constructor(n) { this.n = n }
  get twice() { return this.n * 2 }
  *items() { yield this.n }
}
module.exports = { old, add, even, box, Box }
"""
)
ASK = """
const m = require(process.argv[1]);
const told = (f) => { try { return f() } catch (error) { return error.message.slice(0, 8) } };
console.log(JSON.stringify([
  told(() => m.old(1)), told(() => m.add(1, 2)), told(() => m.even(2)), told(() => m.box(1).a ?? "none"),
  told(() => [...new m.Box(3).items()]), told(() => new m.Box(3).twice),
]));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(
    ("mode", "said"),
    [
        (Mode.PASS, [1, 3, True, 1, [3], 6]),
        (Mode.RAISE, [1, "the body", "the body", "the body", "the body", "the body"]),
        (Mode.CONSTANT, [1, {}, True, "none", [], {}]),
    ],
)
def test_javascript_does_what_the_mode_says(tmp_path: Path, mode: Mode, said: list[object]) -> None:
    found = replaceable("a.js", "javascript", [OLD], NEW)
    assert found is not None
    assert [name.partition(" ")[0] for name in found.functions] == [
        "add",
        "even",
        "box",
        "constructor",
        "twice",
        "items",
    ]
    place = tmp_path / "a.js"
    place.write_bytes(found.text(mode))
    done = subprocess.run(["node", "-e", ASK, str(place)], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == said


@pytest.mark.parametrize(
    ("path", "language", "source"),
    [
        (
            "a.ts",
            "typescript",
            b"export const add = (a: number): number => a + 1\nfunction f(): string { return 'x' }\n",
        ),
        ("a.tsx", "typescript", b"export function A() { return <p>{[1].map((n) => <b>{n}</b>)}</p> }\n"),
        ("a.go", "go", b"package a\n\nfunc add(a int) int {\n\treturn a + 1\n}\n\nfunc (s T) m() { s.x() }\n"),
    ],
)
def test_what_is_written_is_still_the_language(path: str, language: str, source: bytes) -> None:
    found = replaceable(path, language, [], source)
    assert found is not None
    for mode in Mode:
        assert not grammars.parse(grammars.grammar_of(path, language), found.text(mode)).root_node.has_error


def test_what_was_there_cannot_be_read_or_has_no_functions_is_left_alone() -> None:
    assert replaceable("a.js", "javascript", [NEW], NEW) is None
    assert replaceable("a.js", "javascript", [], b"function (((") is None
    assert replaceable("a.js", "javascript", [], b"export const a = 1\n") is None
