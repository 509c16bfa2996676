"""What counts as another behaviour: code, not comments, docstrings or layout."""

from __future__ import annotations

import pytest

from swarmgate.gates import behaviour

PYTHON = b'"""A module."""\n\n\ndef f(a):\n    """Double."""\n    return a * 2  # twice\n'
GO = b"package a\n\n// F doubles.\nfunc F(a int) int { return a * 2 }\n"
SCRIPT = b"// doubles\nexport function f(a) { return a * 2 }\n"


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", PYTHON, b"def f(a):\n    return (a\n            * 2)\n"),
        ("a.py", b"", b'"""Only words."""\n'),
        ("a.py", None, b""),
        ("a.go", GO, b"package a\n\nfunc F(a int) int {\n\treturn a * 2\n}\n"),
        ("a.ts", SCRIPT, b"/* other words */ export function f(a) {\n  return a * 2 }\n"),
        ("a.cobol", b"same", b"same"),
    ],
)
def test_comments_docstrings_and_layout_are_no_behaviour(path: str, before: bytes | None, after: bytes) -> None:
    assert not behaviour.differs(path, before, after)
    assert not behaviour.differs(path, after, before)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", PYTHON, PYTHON.replace(b"a * 2", b"a * 3")),
        ("a.py", b"X = 1\n", None),
        ("a.py", b"X = '#a'\n", b"X = '#b'\n"),
        ("a.py", b"if (:\n", b"if [:\n"),
        ("a.go", GO, GO.replace(b"* 2", b"+ 2")),
        ("a.ts", SCRIPT, SCRIPT.replace(b"export ", b"")),
        ("a.cobol", b"DISPLAY 1.", b"DISPLAY 2."),
    ],
)
def test_code_is_behaviour(path: str, before: bytes, after: bytes | None) -> None:
    assert behaviour.differs(path, before, after)


def test_what_is_code() -> None:
    assert all(map(behaviour.is_code, ("a.py", "src/b.ts", "c.rs", "run.sh", "q.sql")))
    other = ("README.md", "package.json", "a.toml", "style.css", "LICENSE", "a.pyi", "Makefile")
    assert not any(map(behaviour.is_code, other))
