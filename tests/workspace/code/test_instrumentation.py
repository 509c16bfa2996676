"""Rewritten code says what ran and does what it did; with replaced bodies it does what no test may take for right."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from swarmgate.workspace.code.instrumentation import Mode, Rewritten
from swarmgate.workspace.code.python_changes import rewritten, unchanged

SOURCE = b'''"""Words."""
from __future__ import annotations

import os

LIMIT = 2


class Box:
    """A box."""

    size: int = 1

    @property
    def twice(self): return self.size * 2

    def items(self):
        """Docs."""
        for number in range(self.size):
            yield number
        if LIMIT > 5:
            return
        elif os.sep:
            self.size += 0

    async def later(self):
        return 3

    def declared(self):
        raise NotImplementedError

    def __exit__(self, *error):
        return bool(error)


def grow(box):
    if box.size > 5:
        raise ValueError("too big")
    box.size += 1


def is_big(box) -> bool:
    return box.size > 1


if __name__ == "__main__":
    grow(Box())
'''


def whole(source: bytes = SOURCE, before: bytes = b"", lines: range | tuple[int, ...] = range(1, 200)) -> Rewritten:
    found = rewritten("src/box.py", [before], source, tuple(lines), 1)
    assert found is not None
    return found


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Any]:
    """Runs a rewritten file, and gives its names with what it said of itself."""
    names: list[str] = []

    def made(found: Rewritten, mode: Mode) -> Any:
        names.append(f"_probe_{len(names)}")
        place = tmp_path / names[-1]
        space: dict[str, Any] = {"__name__": "box"}
        exec(compile(found.text(mode, [str(place)], name=names[-1]), "box.py", "exec"), space)  # noqa: S102 - our own text
        return SimpleNamespace(**space, said=lambda: set(place.read_text().splitlines()))

    yield made
    for name in names:
        delattr(builtins, name)


def left(found: Rewritten, said: set[str]) -> list[str]:
    return [unit.name for unit in found.units if not set(unit.probes) & said]


def test_a_rewritten_file_does_what_it_did_and_says_what_ran(run: Any) -> None:
    found = whole()
    made = run(found, Mode.PASS)
    assert left(found, made.said()) == ["Box.twice", "Box.items", "Box.later", "Box.__exit__", "grow", "is_big"]
    box = made.Box()
    made.grow(box)
    assert (box.twice, list(box.items()), asyncio.run(box.later())) == (4, [0, 1], 3)
    assert (made.is_big(box), box.__exit__(1)) == (True, True)
    assert left(found, made.said()) == []
    assert made.Box.items.__doc__ == "Docs."


def test_replaced_bodies_raise_or_give_what_no_test_takes_for_right(run: Any) -> None:
    box = (made := run(whole(), Mode.RAISE)).Box()
    for call in (
        lambda: box.twice,
        lambda: list(box.items()),
        lambda: made.grow(box),
        lambda: asyncio.run(box.later()),
    ):
        with pytest.raises(Exception, match="the body of this function was replaced"):
            call()
    box = (made := run(whole(), Mode.CONSTANT)).Box()
    assert made.grow(box) is None
    assert (list(box.items()), box.size, box.__exit__(1)) == ([], 1, None)
    assert box.twice not in (0, None, 2)
    assert asyncio.run(box.later()) != 3
    with pytest.raises(TypeError):  # a function of yes and no gives neither
        assert made.is_big(box)


def test_the_text_is_the_same_in_each_mode_but_for_a_digit() -> None:
    texts = [whole().text(mode, ["/place"], name="_probe") for mode in Mode]
    assert [len(text) for text in texts] == [len(texts[0])] * 3
    assert [sum(a != b for a, b in zip(texts[0], text, strict=True)) for text in texts] == [0, 1, 1]


def test_what_was_there_before_is_not_asked_for() -> None:
    assert whole(before=SOURCE, lines=()).units == ()
    reworded = SOURCE.replace(b'"""Docs."""', b'"""Other docs."""')
    assert (whole(reworded, SOURCE, (18,)).units, whole(reworded, SOURCE, (18,)).functions) == ((), {})


def test_of_a_function_that_was_there_each_changed_part_is_asked_for(run: Any) -> None:
    before = b"def price(n, vip):\n    total = n * 2\n    return total\n"
    after = b"def price(n, vip):\n    total = n * 3\n    if vip:\n        total //= 2\n    return total\n"
    found = whole(after, before, (2, 3, 4))
    assert [unit.line for unit in found.units] == [2]
    split = b"def price(n, vip):\n    total = n * 2\n    if vip:\n        total //= 2\n    return total\n"
    found = whole(split, before, (3, 4))
    made = run(found, Mode.PASS)
    made.price(1, vip=False)
    assert left(found, made.said()) == ["price"]
    made.price(1, vip=True)
    assert left(found, made.said()) == []


def test_error_branches_other_systems_and_declarations_are_not_asked_for() -> None:
    source = (
        b"import sys\nfrom typing import TYPE_CHECKING, overload\n\nif TYPE_CHECKING:\n    from a import b\n"
        b"if sys.platform == 'win32':\n    def only_there():\n        return 1\n\n\n"
        b"try:\n    import json\nexcept ImportError:\n    def json():\n        return 2\n\n\n"
        b"@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: str) -> str: ...\n\n\n"
        b"def fail(x):\n    raise ValueError(x)\n"
    )
    found = whole(source)
    imported, elsewhere = {"1.0"}, {name for probe, name in found.functions.items() if probe in found.defined}
    assert {unit.name for unit in found.units if unit.left_by(imported)} == {"the module"}
    assert {name.partition(" ")[0] for name in elsewhere} == {"only_there", "json"}
    assert not found.replaced(imported)


def test_what_another_system_would_define_is_asked_for_where_it_is_defined(run: Any) -> None:
    found = whole(b"import sys\n\nif sys.version_info >= (3,):\n    def here():\n        return 1\n", lines=range(1, 9))
    said = run(found, Mode.PASS).said()
    assert [unit.name for unit in found.units if unit.left_by(said)] == ["here"]
    assert found.replaced(said)


@pytest.mark.parametrize(
    "source",
    [
        b"def f(): return 1\n",
        b'def f(): "doc"; return 1\n',
        b"@(lambda g: g)\ndef f(x):\n    @(lambda g: g)\n    def inner(): return x\n    return inner()\n",
        b"class A:\n\tdef f(self):\n\t\twith open(__file__): pass\n\t\treturn 1\n",
        b"x = 1; y = 2\nif x: y = 3; z = 4\nelse: z = 5\n",
        "\ufeffdef f():\r\n    'ü'; x = 'ä'; return x\r\n".encode(),
        b"def f(v):\n    match v:\n        case 1: return 2\n        case _:\n            return 3\n",
        b"async def f():\n    async for x in g(): yield x\n",
        b"def f():\n    for a in b:\n        continue\n    while 1: break\n    else:\n        return 1\n",
        b'"""Only words."""\n',
        b"",
    ],
)
def test_any_layout_is_still_python(source: bytes) -> None:
    found = rewritten("a.py", [b""], source, range(1, 99), 1)
    if b'"doc"; return' in source:
        assert found is None  # the one that cannot be written in another way: it is said to be unmeasured
        return
    assert found is not None
    for mode in Mode:
        compile(found.text(mode, ["/place"], name="_probe"), "a.py", "exec")


@pytest.mark.parametrize("source", [b"def f(:\n", b"x = '\xff'\n", b"x = 1\0\n"])
def test_what_is_no_python_is_not_rewritten(source: bytes) -> None:
    assert rewritten("a.py", [b""], source, (1,), 1) is None


def test_a_test_stood_before_only_if_it_is_the_very_same() -> None:
    before = b"def test_a():\n    assert f(1)\n\n\nclass TestX:\n    def test_b(self):\n        assert 1\n"
    after = before.replace(b"assert 1\n", b"assert 2\n") + b"\n\ndef test_new():\n    assert callable(f)\n"
    stood = unchanged("tests/test_a.py", before, after)
    names = ["test_a", "test_a[1-2]", "TestX::test_b", "test_new"]
    assert [stood(f"tests/test_a.py::{name}") for name in names] == [True, True, False, False]
    assert not stood("tests/test_other.py::test_a")
