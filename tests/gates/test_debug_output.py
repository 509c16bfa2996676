"""Tests that what somebody debugged with is found in product code, and what prints on purpose is not."""

from __future__ import annotations

import pytest

from swarmgate.gates.adapters import placeholders
from swarmgate.gates.project.files import language_of, traits_of
from swarmgate.gates.source.file import SourceFile


def _lines(path: str, text: str) -> list[int]:
    found = placeholders.scan_file(SourceFile.of(path, language_of(path), traits_of(path), text.encode()))
    assert not isinstance(found, str)
    return [each.line for each in found if each.rule == "debug-output"]


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("a.py", "def f(x):\n    print(f'DEBUG: f called for {x}')\n    return x + 1\n", 2),
        ("a.py", "def f(x):\n    print('*** [DEBUG]', x)\n    return x + 1\n", 2),
        ("a.py", "def f(x):\n    breakpoint()\n    return x + 1\n", 2),
        ("a.py", "import pdb\n\n\ndef f(x):\n    pdb.set_trace()\n    return x + 1\n", 5),
        ("a.js", "function f(x) {\n  debugger;\n  return x + 1;\n}\n", 2),
        ("a.ts", "function f(x: number) {\n  console.log(`DEBUG x=${x}`);\n  return x + 1;\n}\n", 2),
        ("a.rs", "fn f(x: i32) -> i32 {\n    dbg!(x);\n    x + 1\n}\n", 2),
        ("a.go", 'package a\n\nfunc f(x int) int {\n\tfmt.Println("DEBUG", x)\n\treturn x + 1\n}\n', 4),
        ("a.rb", "def f(x)\n  binding.pry\n  x + 1\nend\n", 2),
    ],
)
def test_what_somebody_watched_the_code_with_is_found(path: str, text: str, line: int) -> None:
    assert _lines(path, text) == [line]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "def f(x):\n    if verbose:\n        print(f'DEBUG: {x}')\n    return x + 1\n"),
        ("a.py", "import os\n\nif os.environ.get('DEBUG'):\n    print('DEBUG: on')\n"),
        ("a.py", "def log_debug(x):\n    print(f'DEBUG: {x}')\n"),
        ("a.py", 'def f(x):\n    """Prints.\n\n    print("DEBUG: x")\n    """\n    return x + 1  # breakpoint()\n'),
        ("a.py", "print('DEBUG=1 prints more')\nprint('Debugging is on')\nlog.debug('DEBUG')\n"),
        ("tests/test_a.py", "def test_it():\n    print('DEBUG: it')\n    assert f(1) == 2\n"),
        (
            "a.js",
            "// debugger;\nfunction f(x) {\n  const debugger_ = 1;\n  console.log('debug mode');\n  return x;\n}\n",
        ),
        ("a.go", 'package a\n\n// fmt.Println("DEBUG")\nfunc f(x int) int {\n\treturn x + 1\n}\n'),
    ],
)
def test_what_prints_on_purpose_is_not(path: str, text: str) -> None:
    assert _lines(path, text) == []


def test_an_expression_of_any_depth_is_read() -> None:
    for terms in (1_500, 2_500):
        deep = " + ".join(["'a'"] * terms)
        assert _lines("a.py", f"y = x{'.f()' * terms}  # DEBUG\n") == []
        assert _lines("a.py", f"x = {deep}\nif {deep}:\n    print('DEBUG: here')\n") == [3]
