"""Tests the breaking API changes of Python modules, compared with griffe's own check."""

from __future__ import annotations

from pathlib import Path

import griffe
import pytest

from swarmgate.gates.contracts.compare import Dialect, compare
from swarmgate.gates.contracts.python import module_facts, surface


def rules(old: str, new: str, path: str = "m.py") -> list[str]:
    """The rules of the public breaks, without their common beginning."""
    found = compare(
        surface.read(path, old.encode()), surface.read(path, new.encode()), Dialect(keywords=True), lambda *_: False
    )
    return sorted(each.rule.removeprefix("contract-") for each in found if each.public)


TWO = "import typing as t\n@t.overload\ndef f(a: int) -> int: ...\n@t.overload\n"
BREAKS = [
    ("def f(): ...", "", ["removed"]),
    ("class C: ...", "", ["removed"]),
    ("A = 1", "", ["removed"]),
    ("def f(): ...", "def f(x): ...", ["parameter-added-required"]),
    ("def f(): ...", "def f(*, x): ...", ["parameter-added-required"]),
    ("def f(x, y): ...", "def f(x): ...", ["parameter-removed"]),
    ("def f(x): ...", "def f(y): ...", ["parameter-renamed"]),
    ("def f(*, x=1): ...", "def f(*, y=1): ...", ["parameter-renamed"]),
    ("def f(x, y): ...", "def f(y, x): ...", ["parameter-moved"]),
    ("def f(a, b=1): ...", "def f(a, c=2, b=1): ...", ["parameter-moved"]),
    ("def f(x=1): ...", "def f(x): ...", ["parameter-required"]),
    ("def f(x=1): ...", "def f(x=2): ...", ["parameter-default-changed"]),
    ("def f(x): ...", "def f(*, x): ...", ["parameter-kind-changed"]),
    ("def f(x): ...", "def f(x, /): ...", ["parameter-kind-changed"]),
    ("def f(*a): ...", "def f(): ...", ["parameter-removed"]),
    ("def f(**k): ...", "def f(): ...", ["parameter-removed"]),
    ("def f(x: int): ...", "def f(x: str): ...", ["parameter-type-changed"]),
    ("def f() -> int: ...", "def f() -> str: ...", ["return-changed"]),
    ("def f() -> int: ...", "def f(): ...", ["return-changed"]),
    ("def f(): ...", "async def f(): ...", ["async-changed"]),
    ("class C(int, str): ...", "class C(int): ...", ["base-removed"]),
    ("class E(ValueError): ...", "class E(KeyError): ...", ["base-removed"]),
    ("f = 0", "class f: ...", ["kind-changed"]),
    ("class C:\n def m(self): ...", "class C: ...", ["removed"]),
    ("class C:\n def m(self, a): ...", "class C:\n def m(self): ...", ["parameter-removed"]),
    ("class C:\n def m(self): ...", "class C:\n @property\n def m(self): ...", ["kind-changed"]),
    ("class C:\n def m(self): ...", "class C:\n @staticmethod\n def m(): ...", ["binding-changed"]),
    ("class C:\n def m(self): ...", "class C:\n @classmethod\n def m(cls): ...", ["binding-changed"]),
    ("class C:\n def __init__(self): ...", "class C:\n def __init__(self, a): ...", ["parameter-added-required"]),
    ("class C: ...", "class C:\n def __init__(self, a): ...", ["parameter-added-required"]),
    ("class C:\n def __init__(self):\n  self.a = 1", "class C:\n def __init__(self): ...", ["removed"]),
    ("class C:\n def __len__(self): return 1", "class C: ...", ["removed"]),
    ("class C:\n a = 1", "class C:\n @property\n def a(self): ...", ["readonly"]),
    ("class C:\n b: int = 1", "class C:\n b: int", ["field-required"]),
    ("__all__ = ['f']\ndef f(): ...", "__all__ = []\ndef f(): ...", ["unexported"]),
    (
        "from enum import Enum\nclass E(Enum):\n A = 1\n B = 2",
        "from enum import Enum\nclass E(Enum):\n A = 1",
        ["removed"],
    ),
    (
        "from enum import Enum\nclass E(Enum):\n A = 1",
        "from enum import Enum\nclass E(Enum):\n A = 2",
        ["value-changed"],
    ),
    (
        "from contextlib import contextmanager\n@contextmanager\ndef f(): yield",
        "from contextlib import contextmanager\ndef f(): yield",
        ["kind-changed"],
    ),
    (
        "from dataclasses import dataclass\n@dataclass\nclass D:\n a: int",
        "from dataclasses import dataclass\n@dataclass\nclass D:\n a: int\n b: int",
        ["parameter-added-required"],
    ),
    (
        "from dataclasses import dataclass\n@dataclass\nclass D:\n a: int\n b: int",
        "from dataclasses import dataclass\n@dataclass\nclass D:\n a: int",
        ["removed"],
    ),
    (
        "from pydantic import BaseModel\nclass D(BaseModel):\n a: int = 1",
        "from pydantic import BaseModel\nclass D(BaseModel):\n a: int",
        ["parameter-required"],
    ),
    (
        "from typing import NamedTuple\nclass N(NamedTuple):\n a: int\n b: str",
        "from typing import NamedTuple\nclass N(NamedTuple):\n b: str\n a: int",
        ["parameter-moved"],
    ),
    (
        "from typing import TypedDict\nclass T(TypedDict):\n a: int",
        "from typing import TypedDict\nclass T(TypedDict):\n a: int\n b: int",
        ["parameter-added-required"],
    ),
    (
        TWO + "def f(a: str) -> str: ...\ndef f(a): ...",
        TWO + "def f(a: bytes) -> bytes: ...\ndef f(a): ...",
        ["parameter-type-changed", "return-changed"],
    ),
    ("class _B:\n def m(self): ...\nclass C(_B): ...", "class _B: ...\nclass C(_B): ...", ["removed"]),
]
KEEPS = [
    ("def f(x): return 1", "def f(x):\n    '''Doc.'''\n    return 2"),
    ("def f(x): ...", "def f(x, y=1): ..."),
    ("def f(x): ...", "def f(x, *, y=1): ..."),
    ("def f(x): ...", "def f(x, *args, **kwargs): ..."),
    ("def f(x, /): ...", "def f(y, /): ..."),
    ("def f(*, x): ...", "def f(**x): ..."),
    ("def f(x): ...", "def f(*x, **y): ..."),
    ("def f(x='a'): ...", 'def f(x="a"): ...'),
    ("def f(x=0x10): ...", "def f(x=16): ..."),
    ("def f(x: 'Optional[int]') -> 'List[str]': ...", "def f(x: int | None) -> list[str]: ..."),
    ("def f(x: int): ...", "def f(x: int | str): ..."),
    ("def f() -> int | None: ...", "def f() -> int: ..."),
    ("def f() -> Iterable[int]: ...", "def f() -> list[int]: ..."),
    ("def f() -> None: ...", "def f() -> int: ..."),
    ("def _f(x): ...", "def _f(): ..."),
    ("__all__ = ['f']\ndef f(): ...\ndef g(x): ...", "__all__ = ['f']\ndef f(): ..."),
    ("def f(): ...\ndef g(): ...", "def g(): ...\ndef f(): ..."),
    ("import os\nfrom typing import Any", ""),
    ("class P: ...\nclass C(P):\n def m(self): ...", "class P:\n def m(self): ...\nclass C(P): ..."),
    ("class C(E): ...", "class N(E): ...\nclass C(N): ..."),
    ("class C(object): ...", "class C: ..."),
    ("class C:\n def __eq__(self, other): ...", "class C:\n def __eq__(self, o: object): ..."),
    ("class C:\n def _m(self): ...", "class C: ..."),
    (
        "class C:\n def __init__(self):\n  self.a = 1",
        "class C:\n def __init__(self): self.s()\n def s(self): self.a = 1",
    ),
    ("class C:\n @property\n def a(self): ...", "class C:\n a = 1"),
    ("class C:\n a = 1", "class C:\n @property\n def a(self): ...\n @a.setter\n def a(self, v): ..."),
    ("LIMIT = 5\n__version__ = '1'", "LIMIT = 6\n__version__ = '2'"),
    ("def f(): ...", "from other import f"),
    ("def f(): ...", "def __getattr__(name):\n if name == 'f': return 1"),
    ("if X:\n def f(a): ...\nelse:\n def f(b): ...", "def f(a): ..."),
    ("def f(__a): ...", "def f(b, /): ..."),
    ("def f(): ...", "__getattr__ = make()"),
    ("if X:\n E = make()\nelse:\n class E(Exception): a = 1", "E = make()"),
    ("def f(a=1, b=2): ...", "from typing import overload\n@overload\ndef f(*, b=2): ...\ndef f(a=1, b=2): ..."),
    ("def f() -> t.ContextManager[int]: ...", "def f() -> AbstractContextManager[int]: ..."),
    (
        "from dataclasses import dataclass\n@dataclass\nclass D:\n a: int",
        "from dataclasses import *\n@dataclass\nclass D:\n a: int\n b: list = field(default_factory=list)",
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), BREAKS)
def test_what_breaks(old: str, new: str, expected: list[str]) -> None:
    assert rules(old, new) == expected


@pytest.mark.parametrize(("old", "new"), KEEPS)
def test_what_does_not(old: str, new: str) -> None:
    assert rules(old, new) == []


@pytest.mark.parametrize("text", [text for case in BREAKS for text in case[:2]])
def test_nothing_breaks_where_nothing_changed(text: str) -> None:
    assert rules(text, text) == []


@pytest.mark.parametrize(("old", "new"), [case[:2] for case in BREAKS] + KEEPS)
def test_what_griffe_finds_is_found(old: str, new: str) -> None:
    """Its finder is the reference, less what is known to be no break."""
    sides = [griffe.visit("m", Path("m.py"), text) for text in (old, new)]
    found = [each for each in griffe.find_breaking_changes(*sides) if "import" not in str(each.obj.path)]
    harmless = {
        ("def f(x, /): ...", "def f(y, /): ..."),
        ("if X:\n def f(a): ...\nelse:\n def f(b): ...", "def f(a): ..."),
        ("def f(__a): ...", "def f(b, /): ..."),
        ("def f(): ...", "__getattr__ = make()"),
        ("if X:\n E = make()\nelse:\n class E(Exception): a = 1", "E = make()"),
        ("def f(a=1, b=2): ...", "from typing import overload\n@overload\ndef f(*, b=2): ...\ndef f(a=1, b=2): ..."),
        ("def f() -> t.ContextManager[int]: ...", "def f() -> AbstractContextManager[int]: ..."),
    }
    loosely = any(each.kind.name in _SPELLINGS for each in found)
    if found and (old, new) not in harmless and not loosely and (old, new) not in KEEPS:
        assert rules(old, new)


_SPELLINGS = {"RETURN_CHANGED_TYPE"}


def adds(old: str, new: str) -> bool:
    return module_facts.only_adds(old.encode(), new.encode())


def test_bodies_and_definitions_of_new_names_are_told_from_contracts() -> None:
    old = "import os\ndef f(a):\n  return os.sep\n"
    assert adds("def f(a):\n  '''x'''\n  return 1", "def f(a):\n  return 2  # y")
    assert adds(old, f"{old}class G(dict): ...\n")
    assert adds(old, f"'''Words.'''\nasync def g(b): ...\n{old}")
    assert not adds(f"{old}def g(): ...\n", old)
    assert not adds(old, f"{old}def os(): ...\n")  # binds a name again
    assert not adds(old, f"{old}__all__ = ['f']\n")
    assert not adds(old, f"{old}if x:\n  def g(): ...\n")
    assert not adds("def ﬁ(): ...\n", "def ﬁ(): ...\ndef fi(a): ...\n")  # one name to the compiler
    assert not adds("def f(a): ...", "def f(b): ...")
    assert not adds("class C:\n def __init__(self): self.a = 1", "class C:\n def __init__(self): self.b = 1")


@pytest.mark.parametrize(("old", "new"), [case[:2] for case in BREAKS] + KEEPS)
def test_where_only_definitions_were_added_nothing_breaks(old: str, new: str) -> None:
    for text in (new, f"{new}\ndef quite_another(a): ...\nclass QuiteAnother(dict): ...\n"):
        if adds(old, text):
            assert rules(old, text) == []


def test_a_package_exports_what_it_imports_from_itself() -> None:
    old, new = "from .a import f, g\nimport os\n", "from .a import g\n"
    assert rules(old, new, "p/__init__.py") == ["removed"]
    assert rules(old, new, "p/b.py") == []


def test_what_does_not_parse_is_said() -> None:
    with pytest.raises(module_facts.Unreadable):
        surface.read("m.py", b"def f(:\n")
    with pytest.raises(module_facts.Unreadable):
        surface.read("m.py", b"x = 1\0")
