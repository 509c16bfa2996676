"""Tests which edits count as a change of behaviour: code, not comments, docstrings or layout."""

from __future__ import annotations

import pytest

from swarmgate.gates.source import behaviour

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
        ("a.dart", b"/// Doubles.\nint f(int a) {return a*2;}", b"int f(int a) {\n  return a * 2;\n}"),
        ("a.kt", b"fun f() = 'a' // a", b"/* b */ fun  f() = 'a'"),
        ("a.scala", b"val x = 1 // a\n", b"// b\nval  x = 1\n"),
        ("a.zig", b"const x = 1; // a\n", b"const x = 1;\n// b\n"),
        ("a.go", b"package a\n// go to build\n", b"package a\n"),
        ("a.rb", b"# frozen strings\nX = 1\n", b"X = 1\n"),
        ("tool", b"#!/usr/bin/env python3\nprint(1)\n", b"#!/usr/bin/env python3\n# one\nprint( 1 )\n"),
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
        # a line's end that means something
        ("a.js", b"function f() { return x }", b"function f() { return\nx }"),
        ("a.js", b"a\n++b", b"a++\nb"),
        ("a.swift", b"func f() { return g() }", b"func f() { return\ng() }"),
        # text that the grammar keeps in inner nodes
        ("a.dart", b"String f() => 'a';", b"String f() => 'b';"),
        ("a.dart", b"var x = 1 + 2;", b"var x = 1 - 2;"),
        ("a.groovy", b"def f() { return 'a' }", b"def f() { return 'b' }"),
        ("a.zig", b'const x = "a";', b'const x = "b";'),
        ("a.scala", b'val x = s"a$y"', b'val x = s"b$y"'),
        ("a.kt", b"val x = 'a'", b"val x = 'b'"),
        # comments that are read
        ("a.go", b"//go:build linux\n\npackage a\n", b"//go:build darwin\n\npackage a\n"),
        ("a.go", b"package a\n//go:embed a\nvar s string\n", b"package a\n//go:embed b\nvar s string\n"),
        ("a.go", b'package a\n// int f() {}\nimport "C"\n', b'package a\n// int g() {}\nimport "C"\n'),
        ("a.rb", b"# frozen_string_literal: true\nX = 'a'\n", b"X = 'a'\n"),
        ("a.hs", b"{-# LANGUAGE Strict #-}\nmodule A where\n", b"module A where\n"),
        ("a.tsx", b"/** @jsx h */\nconst a = <b/>\n", b"const a = <b/>\n"),
        ("tool", b"#!/usr/bin/env python2\nprint(1)\n", b"#!/usr/bin/env python3\nprint(1)\n"),
        ("tool", b"#!/bin/sh\necho 1\n", b"#!/bin/sh\necho 2\n"),
    ],
)
def test_code_is_behaviour(path: str, before: bytes, after: bytes | None) -> None:
    assert behaviour.differs(path, before, after)


def test_what_is_code() -> None:
    code = (
        "py ts rs sh sql pyx jl clj fs ml nim sol m coffee astro gd bat ipynb erb jinja graphql proto prisma unheard_of"
    )
    assert [ending for ending in code.split(" ") if not behaviour.is_code(f"src/a.{ending}")] == []
    other = "md rst txt json toml css pyi d.ts png csv sum svg sqlite pem zip adoc lock keep 1 typed"
    assert [ending for ending in other.split(" ") if behaviour.is_code(f"src/a.{ending}")] == []
    assert not any(map(behaviour.is_code, ("LICENSE", "Makefile", ".gitignore", "x/.keep", "package.json")))


def test_a_script_without_an_ending_is_code_and_what_is_binary_is_not() -> None:
    assert behaviour.is_code("bin/tool", b"#!/usr/bin/env python3\nprint(2)\n")
    assert not behaviour.is_code("bin/tool", b"A text.\n")
    assert behaviour.is_code("a.never_heard_of", b"go")
    assert not behaviour.is_code("a.never_heard_of", b"\x89\0\0")
