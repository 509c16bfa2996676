from __future__ import annotations

import pytest

from swarmgate.gates.project.files import language_of
from swarmgate.workspace.code import grammars


@pytest.mark.parametrize(
    ("path", "grammar"),
    [("a.tsx", "tsx"), ("a.ts", "typescript"), ("a.jsx", "javascript"), ("a.tf", "hcl"), ("a.rst", ""), ("a.cob", "")],
)
def test_a_file_is_read_by_the_grammar_of_its_language(path: str, grammar: str) -> None:
    assert grammars.grammar_of(path, language_of(path)) == grammar


@pytest.mark.slow
def test_every_grammar_of_the_table_is_in_the_package() -> None:
    for grammar in {*grammars._GRAMMARS.values(), "tsx"}:
        assert grammars.parse(grammar, b"x\n").root_node is not None


def test_wrong_syntax_is_an_error_of_the_tree() -> None:
    assert grammars.parse("go", b"package a\nfunc f( {\n").root_node.has_error
    assert not grammars.parse("go", b"package a\nfunc f() {}\n").root_node.has_error


def test_a_parse_ends_at_its_time_limit_and_the_next_one_works() -> None:
    with pytest.raises(grammars.TooSlow, match="python grammar did not end within"):
        grammars.parse("python", b"x = [1, 2, 3]\n" * 50_000, limit_s=0.001)
    assert not grammars.parse("python", b"x = 1\n").root_node.has_error


def test_walk_goes_through_the_source_in_order_however_deep_it_is() -> None:
    root = grammars.parse("python", b"a = " + b"(" * 5000 + b"1" + b")" * 5000 + b"\nb = 2\n").root_node
    starts = [node.start_byte for node in grammars.walk(root)]
    assert starts == sorted(starts)
    assert len(starts) > 10_000
