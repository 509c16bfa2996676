"""Tests a changed file as a pair of revisions."""

from __future__ import annotations

import ast
from pathlib import Path

from swarmgate.domain.review.finding import Finding
from swarmgate.gates.project.files import Trait, Trust
from swarmgate.gates.source import comparison, python_tree
from swarmgate.gates.source.file import Revision, SourceFile

NOW, WAS = b"# one\nx = 1\n# TODO\ny = 2\n", b"# one\r\nx = 1\r\n"


def test_what_is_read_of_equal_contents_is_one_object() -> None:
    here, there = Revision("a.py", "python", NOW), Revision("b/c.py", "python", bytes(bytearray(NOW)))
    assert here.tree is there.tree
    assert here.text is there.text
    assert here.comments is there.comments
    assert [each.text for each in here.comments] == ["one", "TODO"]
    assert Revision("a.go", "go", b"package a\n").syntax is Revision("b.go", "go", b"package a\n").syntax
    assert Revision("a.txt", "text", b"x").syntax is None


def test_the_past_is_judged_under_the_name_and_traits_of_now() -> None:
    pair = SourceFile.of("new.py", "python", frozenset({Trait.TEST}), NOW, old=Revision("old.py", "python", WAS))
    past = pair.past
    assert (past.path, past.content, past.is_test, past.base_path) == ("new.py", WAS, True, "old.py")
    assert (pair.was.text, pair.now.text) == ("# one\nx = 1\n", NOW.decode())


def test_a_file_that_is_added_or_gone_has_an_empty_other_side() -> None:
    added = SourceFile.of("a.py", "python", content=NOW)
    gone = SourceFile(Revision("a.py", "python", WAS), None)
    assert (added.added, added.was.content, added.base_path) == (True, b"", "")
    assert (gone.path, gone.language, gone.content, gone.added) == ("a.py", "python", b"", False)


def test_a_trait_is_taken_away_by_who_does_not_believe_it() -> None:
    generated = frozenset({Trait.GENERATED})
    pair = SourceFile.of("a.py", "python", generated, NOW, unproven=generated, claimed=frozenset())
    assert pair.trusted(Trust.CONTENT).traits == frozenset()
    assert pair.trusted(Trust.DECLARED).traits == generated


def test_a_check_is_asked_about_the_past_only_where_it_found_something() -> None:
    asked = []

    def check(file: SourceFile) -> list[Finding] | str:
        asked.append(file.content)
        lines = file.now.text.split("\n")
        return [
            Finding(rule="r", path=file.path, line=n, message="m") for n, line in enumerate(lines, 1) if "#" in line
        ]

    pair = SourceFile.of("a.py", "python", content=NOW, old=Revision("a.py", "python", WAS))
    found = comparison.judged(pair, check)
    assert [(each.line, each.new) for each in found if isinstance(each, Finding)] == [(1, False), (3, True)]
    assert comparison.judged(pair.holding(b"x = 1\n"), check) == []
    assert asked == [NOW, WAS, b"x = 1\n"]


def test_findings_on_one_line_are_told_apart_by_their_subject() -> None:
    line = b"from a import f, g\n"
    pair = SourceFile.of("a.py", "python", content=line, old=Revision("a.py", "python", line))
    both = [Finding(rule="r", path="a.py", line=1, message=name, subject=name) for name in ("f", "g")]
    assert [(each.subject, each.new) for each in comparison.compare(pair, both, both[1:])] == [
        ("f", True),
        ("g", False),
    ]


def test_walks_give_what_those_of_ast_give() -> None:
    every = "match a:\n    case {'k': [b, *c], **d}: pass\nasync def f(*, x=1) -> int: return f'{x!r:>{y}}'\nglobal g\n"
    for text in (every, Path(comparison.__file__).read_text(), Path(ast.__file__).read_text()):
        tree = ast.parse(text)
        assert list(python_tree.walk(tree)) == list(ast.walk(tree))
        for node in ast.walk(tree):
            assert python_tree.children(node) == list(ast.iter_child_nodes(node))
