"""Tests the syntax check by grammars and brackets: messages, and valid code of every language."""

from __future__ import annotations

import time

import pytest

from swarmgate.gates.project.files import language_of
from swarmgate.gates.syntax import brackets, lexers, trees
from swarmgate.workspace.code import grammars

SOUND = {
    "a.sh": 'f() { case "$1" in a) echo "x)";; esac; }\nif [ -n "$a" ] && [[ $b =~ ^\\( ]]; then cat <<E\n( {\nE\nfi\n',
    "a.c": "#ifdef A\nint f(int a) {\n#else\nint f(void) {\n#endif\n"
    "  char c = '{'; /* } */ return \"(}\"[0]; // {\n}\n",
    "a.cpp": 'auto s = R"x(") { )x"; int n = 1\'000\'000; template <class T> struct A { T v{}; };\n',
    "a.cs": 'class A { string a = @"\\"; string b = $"{a}{{"; char c = \'{\'; string d = """\n " { """; }\n',
    "a.css": 'a::after { content: "}"; background: url(data:image/png;base64,a/*b) }\n'
    "@media (min-width: 1px) { b { c: d } }\n",
    "a.dart": "void f() { print('${a[\"b\"]} {'); /* /* { */ */ var r = r'\\'; }\n",
    "a.ex": 'defmodule A do\n  def f(a), do: ~s{(} <> "#{a}"\nend\n',
    "a.erl": "-module(a).\nf({A, B}) -> [A | B].\n",
    "a.go": 'package a\n\nfunc f[T any](x T) (s string) { return `{` + "(" }\n',
    "a.groovy": 'def f(a) { a.each { println "${it} {" } ; x = ~/\\(/ }\n',
    "a.hs": "module A where\n{- { {- ( -} -}\nf' :: Char -> [Char]\nf' c = '(' : [c, '\"'] -- }\n",
    "a.java": "record A(int b) { String c() { return \"{\" + '('; } /* { */ }\n",
    "a.js": "const a = /[({]/.test(b) ? `${c ? `}` : '{'}` : {};\n",
    "a.jsx": 'const A = () => <div class="b">it\'s {"}"} <b /></div>;\n',
    "a.kt": 'fun f(a: String?) = """ { """ + "${a?.let { "b" }}" + \'{\' /* /* ( */ */\n'
    "fun g(b: List<Int>) { h(b[0], listOf(1)) { it + (2) } }\n",
    "a.less": "@a: ~`1`; .b(@c) when (@c > 1) { d: e; // }\n}\n",
    "a.lua": "local a = [[ ( ]] --[[ { ]]\nfunction f(b) return { b, '(' } end\n",
    "a.php": "<p>(</p>\n<?php function f(array $a): ?int { return $a['{'] ?? null; /* } */ }\n",
    "a.proto": 'syntax = "proto2";\nmessage A { optional group B = 1 { } optional string c = 2 [default = "{"]; }\n',
    "a.ps1": 'function A($b) { # {\n  @\'\n{ (\n\'@; "$($b.c) `" ("; <# { #> }\n',
    "a.r": "f <- function(a) { a[['(']] %in% r\"({)\" }\n",
    "a.rb": 'def f(a) = %w[( {].map { |b| "#{b} (" } + [/\\(/, <<~X]\n  {\nX\n',
    "a.rs": "fn f<'a>(b: &'a str) -> char { let _ = r#\"{\"#; '{' } /* /* ( */ */\n",
    "a.scala": 'object A { val b = s"${c("d")}"; val d = \'{\' /* /* ( */ */\n'
    "  def f(g: Int) = { h(List(1), i) { j => j + (2) } } }\n",
    "a.scss": "@mixin a($b...) { &:not(.c) { d: #{$b}; // {\n e: '}' } }\n",
    "a.sql": "-- (\nCREATE FUNCTION f() RETURNS int AS $x$ SELECT '(' $x$ LANGUAGE sql;\n"
    "INSERT INTO a VALUES ('it''s (', \"b)\");\n",
    "a.swift": 'func f(_ a: String) -> String { "\\(a) {" + #"\\ " ( "# + """\n ( " {\n""" } /* /* { */ */\n',
    "a.tf": 'resource "a" "b" {\n  c = "${d["e"]} {" # {\n  f = <<-E\n  (\n  E\n}\n',
    "a.ts": "function f<T extends { a: (b: string) => void }>(c: T): asserts c is T { c as unknown satisfies T; }\n",
    "a.tsx": "export const A = <T,>({ b }: { b: T[] }) => <>{b.map((c) => <p key={'}'}>it's {c as string}</p>)}</>;\n",
    "a.zig": "const a = \"(\";\nconst b =\n    \\\\ { (\n;\nfn f() u8 {\n    return '{'; // {\n}\n",
}
assert len({language_of(path) for path in SOUND}) >= 29


def check(path: str, content: str) -> list[tuple[int, int, str]]:
    problems = trees.check(language_of(path), path, content.encode())
    assert not isinstance(problems, str)
    return [(problem.line, problem.column, problem.message) for problem in problems]


@pytest.mark.parametrize("path", SOUND)
def test_sound_code_with_brackets_in_strings_and_comments(path: str) -> None:
    assert check(path, SOUND[path]) == []
    assert check(path, SOUND[path].replace("\n", "\r\n")) == []


@pytest.mark.parametrize("path", SOUND)
def test_a_bracket_deleted_or_added_and_a_cut_are_found(path: str) -> None:
    content = SOUND[path].encode()
    language = language_of(path)
    if lexers.known(language):
        marks = list(lexers.marks(language, content))
    else:
        marks = list(trees.leaves(grammars.parse(grammars.grammar_of(path, language), content), content))
    found = [bool(check(path, _without(content, mark.offset))) for mark in marks]
    assert sum(found) >= 0.8 * len(found)  # delimiters of some strings and `#else` branches are among them
    opener = next(mark for mark in marks if mark.text in b"([{")
    assert check(path, content[: opener.offset + 1].decode())
    assert check(path, (content + b"\n)}\n").decode())


def _without(content: bytes, offset: int) -> str:
    return (content[:offset] + content[offset + 1 :]).decode()


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        (
            "a.go",
            "package a\nfunc f() {\n\tif x {\n\ty()\n}\n",
            (3, 7, "`{` is not closed: `}` is missing before line 5"),
        ),
        ("a.c", "int f(int a {\n return 1;\n}\n", (1, 6, "`(` is never closed: `)` is missing")),
        ("a.kt", "fun f() {\n  g(é, 1))\n}\n", (2, 10, "unexpected `)`")),
        ("a.rs", "fn f() {\n    g(1];\n}\n", (2, 8, "unexpected `]`")),
        ("a.js", "f([1, 2);\n", (1, 3, "`[` is not closed: `]` is missing in line 1")),
        ("a.java", "class A {\n  int x = 1\n}\n", (2, 12, "`;` is missing")),
        ("a.sh", "if [ -f x; then\n  y\nfi\n", (1, 4, "`[` is never closed: `]` is missing")),
        ("a.scss", "a { b: 'c; }\n", (1, 8, "`'` is never closed")),
        ("a.css", "/* a\nb { c: d }\n", (1, 1, "`/*` is never closed")),
    ],
)
def test_words_and_places(path: str, content: str, expected: tuple[int, int, str]) -> None:
    assert check(path, content) == [expected]


def test_at_most_three_and_never_a_whole_subtree() -> None:
    problems = check("a.java", "class A {\n" + "  int x = = 1;\n" * 20 + "}\n")
    assert 1 <= len(problems) <= 3
    assert all(len(message) < 80 for _, _, message in problems)


def test_newer_syntax_than_the_grammar_with_brackets_that_match_is_no_finding() -> None:
    assert check("a.swift", "nonsense of tomorrow ~~> { at all }\n") == []


@pytest.mark.parametrize("language", sorted(lexers.languages()))
@pytest.mark.parametrize("text", ['"', "'", "/*", "{-", "(", "`", '"""', "#if a\n", "@'\n", "\\"])
def test_whatever_does_not_end_is_read_in_linear_time(language: str, text: str) -> None:
    content = (text + " ").encode() * 5_000
    started = time.process_time()
    brackets.unbalanced(content, lexers.marks(language, content))
    assert time.process_time() - started < 2
