"""Data model of a public API: symbols with their signatures, and the kinds of breaking changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class ParameterKind(StrEnum):
    """How an argument reaches a parameter; languages without keyword arguments have positional ones and the rest."""

    POSITIONAL = "positional-only"
    EITHER = "positional or keyword"
    KEYWORD = "keyword-only"
    REST = "variadic positional"
    KEYWORD_REST = "variadic keyword"

    @property
    def variadic(self) -> bool:
        """Whether it takes any number of arguments."""
        return self in {ParameterKind.REST, ParameterKind.KEYWORD_REST}

    @property
    def positional(self) -> bool:
        """Whether a positional argument fills it."""
        return self in {ParameterKind.POSITIONAL, ParameterKind.EITHER}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; `keys` are the names that a destructured parameter takes out of its object, True: required."""

    name: str
    kind: ParameterKind = ParameterKind.POSITIONAL
    required: bool = True
    default: str = ""
    type: str = ""
    keys: tuple[tuple[str, bool], ...] = ()


Signature = tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """One form in which a function can be called: its parameters and what it returns."""

    parameters: Signature
    returns: str = ""
    text: str = ""


@dataclass(slots=True)
class Symbol:
    """A public or private name of an API.

    `kind`: function, class, interface, type, enum, member (of an enum), attribute, property, alias (a name imported
    from elsewhere). `calls`: the forms in which it can be called, one for each overload; `narrow`: further ones that
    only its own package can call; `body`: with overloads, the form that their common body has. `traits` are words
    that belong to the contract: async, static, class, writable and so on. `required`: a field that whoever makes an
    object must give, or a member that whoever implements an interface must write. `open`: members may come from where
    this file does not show. `ambiguous`: defined more than once here, so that only its absence is certain. `bases`
    are last names of public bases, `derives` all bases as written.
    """

    name: str
    kind: str
    line: int
    text: str = ""
    public: bool = True
    calls: tuple[Call, ...] = ()
    narrow: tuple[Call, ...] = ()
    body: Call | None = None
    bases: tuple[str, ...] = ()
    traits: frozenset[str] = frozenset()
    type: str = ""
    value: str = ""
    required: bool = False
    derives: tuple[str, ...] = ()
    members: dict[str, Symbol] = field(default_factory=dict)
    open: bool = False
    ambiguous: bool = False
    path: str = ""


@dataclass(slots=True)
class Surface:
    """The API of a unit: a module, a package, a crate's module. `open`: names may come from elsewhere.

    `origins`: imported names, with the module they come from and their name there (empty: the module itself);
    `stars`: modules of which everything is imported; `spoken`: words of strings in a file that answers for names by
    code (`__getattr__`, `globals()`), any of which may be such a name. `torn`: the content of a file whose
    syntax tree has errors, where a name that is not seen may still be. `made`: a function that is made
    elsewhere answers for names, so that any may be there.
    """

    unit: str
    path: str
    symbols: dict[str, Symbol] = field(default_factory=dict)
    open: bool = False
    origins: dict[str, tuple[str, str]] = field(default_factory=dict)
    stars: tuple[str, ...] = ()
    spoken: set[str] = field(default_factory=set)
    torn: bytes = b""
    made: bool = False


@dataclass(frozen=True, slots=True)
class Break:
    """One breaking change of an API.

    `name` is the dotted path inside the unit, `detail` what is different in words, `parameter` whose it is. `old` and
    `new` are the symbols on both sides (None: not there). `soft`: callers go on working, with another result.
    `path` and `line` are the nearest place after the change, `home` the file through which users reach the symbol.
    """

    rule: str
    unit: str
    name: str
    detail: str
    old: Symbol | None
    new: Symbol | None
    public: bool = True
    soft: bool = False
    parameter: str = ""
    path: str = ""
    line: int = 0
    home: str = ""
