"""Tests the rewriting of newer Python syntax for an older parser: same positions, same strings."""

from __future__ import annotations

import ast
import sys

import pytest

from swarmgate.gates.sast import older_syntax

CASES = [
    ("""f'{a['x']}'""", ["x"]),
    ("""f'{', '.join(x)}' 'b'""", [", "]),
    (r"""f"{'\n'.join(x)}" """, ["\n"]),
    (r"""f'{x.replace('\'', '&apos;')}'""", ["'", "&apos;"]),
    ("""f"{f"{x["a"]}"}" """, ["a"]),
    ("""f'''{a["b"]} {x['c']}'''""", ["b", "c"]),
]


@pytest.mark.parametrize(("text", "strings"), CASES)
def test_strings_in_braces(text: str, strings: list[str]) -> None:
    tree, source = older_syntax.parse(text.encode())
    assert len(source) == len(text.encode())
    inner = [each for each in ast.walk(tree) if isinstance(each, ast.Constant)]
    values = [each.value for each in inner]
    assert all(string in values for string in strings)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this parser reads it as it is")
def test_what_is_valid_is_left_as_it_is() -> None:
    text = b"x = f'{a[\"b\"]}' + 'c'\n"
    assert older_syntax.parse(text)[1] is text
    assert older_syntax.rewritten(text)[0] == text


def test_wrong_syntax_stays_wrong() -> None:
    with pytest.raises(SyntaxError, match="invalid syntax"):
        older_syntax.parse(b"def f(:\n    f'{a['x']}'\n")
