"""What a file defines, in several languages."""

from __future__ import annotations

import pytest

from swarmgate.workspace.code.outline import definitions

PYTHON = '''"""Doc."""
import os


@decorated
def one(a: int, *rest: str, key: bool = False) -> int:
    def inner() -> None: ...
    return 1


class Two(Base, metaclass=Meta):
    x = 1

    async def three(self) -> None:
        pass
'''
OTHERS = {
    "a.go": ("package a\n\ntype P struct {\n\tX int\n}\n\nfunc (p P) Sum(a int) int {\n\treturn 1\n}\n",
             [(3, 5, "type P struct"), (7, 9, "func (p P) Sum(a int) int")]),
    "a.ts": ("export interface I {\n  x: number;\n}\nexport const f = (a: number) => {\n  return a\n};\nlet y = 1;\n",
             [(1, 3, "export interface I"), (4, 6, "export const f = (a: number) =>")]),
    "a.js": ("class A {\n  go(x) {\n    return x;\n  }\n}\nfunction b() {}\n",
             [(1, 5, "class A"), (2, 4, "go(x)"), (6, 6, "function b() {}")]),
    "a.rs": ("pub struct S;\n\nimpl S {\n    pub fn new() -> Self {\n        S\n    }\n}\n",
             [(1, 1, "pub struct S;"), (3, 7, "impl S"), (4, 6, "pub fn new() -> Self")]),
    "a.java": ("class A {\n  int x() {\n    return 1;\n  }\n}\n", [(1, 5, "class A"), (2, 4, "int x()")]),
    "a.rb": ("class A\n  def go(x)\n    x\n  end\nend\n", [(1, 5, "class A"), (2, 4, "def go(x)")]),
    "a.c": ("struct p { int x; };\nstruct p origin;\nint sum(int a) {\n  return a;\n}\n",
            [(1, 1, "struct p { int x; };"), (3, 5, "int sum(int a)")]),
    "a.sh": ("go() {\n  ls\n}\n", [(1, 3, "go()")]),
}  # fmt: skip


def test_python_with_decorators_bases_and_methods() -> None:
    found = [(each.start, each.end, each.depth, each.signature) for each in definitions("src/a.py", PYTHON)]
    assert found == [
        (5, 8, 0, "def one(a: int, *rest: str, key: bool=False) -> int"),
        (11, 15, 0, "class Two(Base, metaclass=Meta)"),
        (14, 15, 1, "async def three(self) -> None"),
    ]


@pytest.mark.parametrize("path", OTHERS)
def test_other_languages(path: str) -> None:
    text, expected = OTHERS[path]
    assert [(each.start, each.end, each.signature) for each in definitions(path, text)] == expected


@pytest.mark.parametrize(
    ("path", "text"),
    [("a.py", "def x(:\n"), ("a.py", ""), ("a.txt", "def x(): pass"), ("a", ""), ("a.py", "\x00"), ("a.md", "# T")],
)
def test_what_cannot_be_read_defines_nothing(path: str, text: str) -> None:
    assert definitions(path, text) == ()


def test_depth_is_no_limit() -> None:
    deep = "function f(){" * 3_000 + "}" * 3_000
    assert definitions("a.js", deep)
    definitions("a.py", "(" * 5_000)
