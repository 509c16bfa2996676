"""Tests the detection of stubs, empty tests and sample values with tree-sitter."""

from __future__ import annotations

from typing import Any

import pytest

from swarmgate.domain.review.finding import Severity
from swarmgate.gates.adapters import placeholders
from swarmgate.gates.project.files import language_of, traits_of
from swarmgate.gates.source.file import SourceFile


def look(path: str, text: str) -> Any:
    return placeholders.scan_file(SourceFile.of(path, language_of(path), traits_of(path), text.encode()))


def rules(path: str, text: str) -> list[str]:
    return [finding.rule for finding in look(path, text)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.js", "function f(a) {\n  throw new Error('not implemented');\n}\n"),
        ("a.ts", "class A {\n  load(id: string): User {\n    throw new Error('TODO');\n  }\n}\n"),
        ("a.tsx", "const f = async () => {\n  console.log('not implemented yet');\n};\n"),
        ("a.go", 'package a\n\nfunc F() error {\n\tpanic("implement me")\n}\n'),
        ("a.go", 'package a\n\nfunc F() (int, error) {\n\treturn 0, errors.New("not implemented")\n}\n'),
        ("a.rs", "fn f(a: i32) -> i32 {\n    todo!()\n}\n"),
        ("a.rs", "impl T {\n    fn f(&self) -> bool { unimplemented!() }\n}\n"),
        ("A.java", 'class A {\n  int f() {\n    throw new UnsupportedOperationException("Not implemented");\n  }\n}\n'),
        ("a.kt", 'fun f(a: Int): Int = TODO("later")\n'),
        ("a.c", 'int f(int a) {\n  fprintf(stderr, "not implemented\\n");\n  return -1;\n}\n'),
        ("a.cpp", 'int A::f() {\n  throw std::logic_error("not implemented");\n}\n'),
        ("a.cs", "class A {\n  public int F() => throw new NotImplementedException();\n}\n"),
        ("a.rb", "def f(a)\n  raise NotImplementedError\nend\n"),
        ("a.php", "<?php\nfunction f($a) {\n  throw new \\Exception('not implemented');\n}\n"),
        ("a.swift", 'func f(a: Int) -> Int {\n  fatalError("not implemented")\n}\n'),
        ("a.scala", "object A {\n  def f(a: Int): Int = ???\n}\n"),
        ("a.lua", "function f(a)\n  error('not implemented')\nend\n"),
        ("a.dart", "int f(int a) {\n  throw UnimplementedError();\n}\n"),
        ("a.sh", "deploy() {\n  echo 'not implemented'\n  return 1\n}\n"),
        ("a.vue", "<script>\nfunction f(a) {\n  throw new Error('not implemented');\n}\n</script>\n"),
        ("a.js", "function parse(a) {\n  // stub\n}\n"),
    ],
)
def test_bodies_that_say_that_they_are_none(path: str, text: str) -> None:
    assert rules(path, text) == ["stub-body"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "def f(a):\n    # dummy value\n    return {'id': 1}\n"),
        ("a.py", "def f(a):\n    '''Find the rows (placeholder).'''\n    rows = [1, 2]\n    return rows\n"),
        ("a.ts", "function f(a: string): User {\n  // hardcoded\n  return { id: 1, name: 'x' };\n}\n"),
        (
            "a.go",
            "package a\n\n// F finds users.\nfunc F(a int) ([]string, error) {\n\t// mocked\n\treturn nil, nil\n}\n",
        ),
        ("a.rs", "fn f(a: i32) -> Vec<u8> {\n    // fake answer\n    Vec::new()\n}\n"),
        ("A.java", "class A {\n  List<String> f() {\n    // dummy\n    return new ArrayList<>();\n  }\n}\n"),
        ("a.rb", "def f(a)\n  # fake\n  { id: 1 }\nend\n"),
        ("a.lua", "function f(a)\n  -- fake\n  return {}\nend\n"),
    ],
)
def test_made_up_results_beside_a_word_that_says_so(path: str, text: str) -> None:
    assert rules(path, text) == ["canned-result"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.js", "const noop = () => {};\nbutton.on('x', () => {});\nclass A { constructor() {} }\n"),
        (
            "a.ts",
            "abstract class A {\n  abstract f(): void;\n}\ninterface I { f(): void }\ndeclare function d(): void;\n",
        ),
        ("a.go", 'package a\n\nfunc (x node) isNode() {}\n\nfunc (UnimplementedS) F() error {\n\tpanic("TODO")\n}\n'),
        ("a.rs", "trait X {\n    fn f(&self);\n    fn g(&self) {\n        unimplemented!()\n    }\n}\n"),
        (
            "A.java",
            "interface I {\n  default void f() {}\n}\nclass L {\n  void add() { throw new Unsupported(); }\n}\n",
        ),
        (
            "a.swift",
            'class V {\n  init?(coder: Coder) {\n    fatalError("init(coder:) has not been implemented")\n  }\n}\n',
        ),
        ("a.js", "function limit() {\n  // at most ten\n  return 10;\n}\n"),
        (
            "a.cs",
            "class A {\n  public bool Can => false;\n  public void F() { throw new NotSupportedException(); }\n}\n",
        ),
        ("a.lua", "function first(...) return ... end\n"),
        ("a.py", "def remove(self, key):\n    del self.rows[key]\n"),
        ("a.py", "class A(B):\n    def f(self):\n        raise NotImplementedError('not supported on Windows')\n"),
        (
            "a.py",
            "class Base:\n    '''Base class of readers.'''\n\n    def read(self):\n        raise NotImplementedError\n",
        ),
        ("a.py", "def f(a):\n    # the smallest of them\n    return 3\n"),
    ],
)
def test_bodies_that_are_rightly_empty_or_constant(path: str, text: str) -> None:
    assert rules(path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "rule"),
    [
        ("tests/test_a.py", "def test_a():\n    pass\n", "empty-test"),
        ("tests/test_a.py", "def test_a():\n    assert True\n", "empty-test"),
        ("a.test.ts", "it('adds', () => {});\n", "empty-test"),
        ("a_test.go", "package a\n\nfunc TestA(t *testing.T) {\n}\n", "empty-test"),
        ("tests/ATest.kt", "class ATest {\n    @Ignore\n    fun adds() { check(f() == 1) }\n}\n", "skipped-test"),
        ("spec/a_spec.rb", "xit 'adds' do\n  expect(f).to eq 1\nend\n", "skipped-test"),
    ],
)
def test_tests_that_test_nothing(path: str, text: str, rule: str) -> None:
    assert [(finding.rule, finding.severity) for finding in look(path, text)] == [(rule, Severity.LOW)]


def test_a_reason_is_enough_for_a_skip() -> None:
    assert rules("tests/ATest.kt", 'class ATest {\n    @Ignore("flaky on arm")\n    fun adds() { f() }\n}\n') == []
    assert rules("spec/a_spec.rb", "# needs a display\nxit 'draws' do\n  draw\nend\n") == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.html", "<p>Lorem ipsum dolor sit amet</p>\n", ["filler-text"]),
        ("a.py", "API_KEY = 'your-api-key'\n", ["example-value"]),
        ("a.ts", "const baseUrl = 'https://api.example.com/v1';\n", ["example-value"]),
        ("a.py", "parser.add_argument('--url', help='like https://example.com')\n", []),
        ("a.tsx", "<input placeholder='you@example.com' />\n", []),
        ("tests/test_a.py", "URL = 'https://example.com'\n", []),
        ("examples/a.py", "URL = 'https://example.com'\n", []),
        ("a.py", "# see https://example.com/TODO\nif host == 'example.com':\n    skip(host)\n", []),
    ],
)
def test_values_that_nobody_filled_in(path: str, text: str, expected: list[str]) -> None:
    assert rules(path, text) == expected


def test_a_marker_with_an_issue_informs() -> None:
    severities = {
        "# TODO: later\n": Severity.MEDIUM,
        "# TODO(#12): later\n": Severity.LOW,
        "# FIXME AB-7\n": Severity.LOW,
    }
    for text, severity in severities.items():
        assert [finding.severity for finding in look("a.py", text)] == [severity]


def test_wording_is_found_across_line_breaks() -> None:
    (finding,) = look(
        "a.go", "package a\n\n// F checks it. In a real\n// implementation this would ask the server.\nvar x = 1\n"
    )
    assert (finding.rule, finding.line) == ("stub-wording", 3)
