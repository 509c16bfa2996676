"""Tests the parse cache: each content is parsed once in all threads, in bounded memory."""

from __future__ import annotations

import ast
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from swarmgate.gates.source import python_tree
from swarmgate.gates.source.parse_cache import once


def test_all_who_ask_at_once_get_what_one_of_them_read() -> None:
    started, read = threading.Barrier(8), []

    @once(1000)
    def words(content: bytes) -> list[bytes]:
        read.append(content)
        return content.split()

    def ask(_: int) -> list[bytes]:
        started.wait(30)
        return words(b"a b c")

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(8)))
    assert read == [b"a b c"]
    assert all(each is found[0] for each in found)


def test_each_argument_is_a_reading_of_its_own() -> None:
    @once(1000)
    def parts(content: bytes, mark: bytes) -> list[bytes]:
        return content.split(mark)

    assert parts(b"a-b+c", b"-") == [b"a", b"b+c"]
    assert parts(b"a-b+c", b"+") == [b"a-b", b"c"]


def test_what_was_not_asked_for_the_longest_goes_first() -> None:
    read = []

    @once(10)
    def size(content: bytes) -> int:
        read.append(content)
        return len(content)

    for content in (b"aaaa", b"bbbb", b"aaaa", b"cccc", b"aaaa", b"bbbb"):
        size(content)
    assert read == [b"aaaa", b"bbbb", b"cccc", b"bbbb"]


def test_an_error_is_kept_unless_it_depends_on_who_asks() -> None:
    read = []

    @once(1000)
    def number(content: bytes) -> int:
        read.append(content)
        if content == b"deep":
            raise RecursionError
        return int(content)

    for content, error in ((b"x", ValueError), (b"deep", RecursionError)):
        for _ in range(2):
            with pytest.raises(error):
                number(content)
    assert read == [b"x", b"deep", b"deep"]


def test_threads_parse_beside_each_other_and_no_warning_reaches_the_user() -> None:
    sources = [b"x = '\\d'\ny = %d is 1\n" % number for number in range(200)]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with ThreadPoolExecutor(4) as pool:
            assert all(isinstance(tree, ast.Module) for tree in pool.map(python_tree.parse, sources))
        for source in sources:
            python_tree.check(source)
        compile("z = '\\d'", "of somebody else", "exec")
    assert [each.filename for each in told] == ["of somebody else"]


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("print((x := 1))", 8), ("def f(a, /):\n    pass", 8), ("f = lambda a, /: a", 8),
        pytest.param(
            "with (open('a') as a, open('b') as b):\n    pass", 9,
            marks=pytest.mark.skipif(sys.version_info >= (3, 13), reason="its parser takes that for any version"),
        ),
        ("match x:\n    case 1:\n        pass", 10),
        ("try:\n    pass\nexcept* OSError:\n    pass", 11), ("x: int = 1", 0), ("with open('a') as a:\n    pass", 0),
    ],
)  # fmt: skip
def test_older_versions_are_told_from_the_tree_as_the_parser_tells_them(text: str, since: int) -> None:
    for minor in range(7, 12):
        if minor < since:
            with pytest.raises(SyntaxError):
                python_tree.check_for(text.encode(), minor)
        else:
            python_tree.check_for(text.encode(), minor)
