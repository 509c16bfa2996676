"""Functions that pretend by their shape: the name promises work, the body ignores what it is given.

No word of the code is asked, so that the shape has to be sure: a front end hands in only functions that nothing else
may call for (`Shape.free`), and what is rightly constant says so by its name, its owner's name or its documentation.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMPUTES = """
validate verify check authenticate authorize calculate compute parse convert transform translate encrypt decrypt hash
sign analyze analyse predict classify detect estimate evaluate measure rank score recommend summarize summarise optimize
compress decompress encode decode sanitize escape extract infer solve generate diff find lookup search compile tokenize
validates verifies
"""
_ACTS = """
send charge pay refund fetch download query upload save store publish notify transfer withdraw deposit submit sync
backup restore deploy schedule book reserve scrape crawl retrieve persist email load
"""
_COMPUTE, _ACT = frozenset(_COMPUTES.split()), frozenset(_ACTS.split())
_FETCH = frozenset({"fetch", "download", "query", "scrape", "crawl", "retrieve", "search"})
_ASKS = re.compile(
    r"^(?:is|has|can)_?.*(?:valid|authenticated|authorized|authorised|allowed|permitted|permission|access|expired|"
    r"verified|trusted|spam|fraud\w*|available|unique|prime|palindrome)",
    re.IGNORECASE,
)
_CONSTANT_NAME = re.compile(
    r"default|always|never|nothing|no_?op|null|dummy|fake|mock|stub|sample|random|fallback|trivial|constant|empty|demo"
    r"|example|(?:allow|accept|deny)_?all|legacy|deprecated|unsupported|(?:^|_)any(?:_|$)|(?-i:Any(?:[A-Z]|$))",
    re.IGNORECASE,
)
_CONSTANT_OWNER = re.compile(
    r"^_*(?:Null|No[A-Z]|Always|Never|Allow|Deny|Any[A-Z]|Trivial|Default|Simple|Base|Abstract|I[A-Z][a-z])|no_?op|Nop|Stub"
    r"|Mock|Fake|Dummy|Test|Example|Demo|Mixin|Interface|Protocol|Handler$|Visitor$|Plugin$|Hook|Hooks$|Adapter$|Backend$"
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NOTHING = re.compile(r"^(?:None|null|nil|undefined|void 0|\(\)|)$")
_BARE = re.compile(r"^(?:true|false|True|False|nil|Ok\((?:\(\)|true|false)\))$")


@dataclass(frozen=True, slots=True)
class Shape:
    """How a function treats what it is given.

    `owner`: the class that it is a method of, by name. `given`: its parameters, without the receiver. `used`: whether
    its work takes one of them (what is only printed, or copied into a literal, is not used). `result`: what it returns,
    as text. `chance`: that is drawn at random. `talks`: it says something, or copies what it is given into its result.
    `documented`: it has documentation.
    """

    name: str
    owner: str = ""
    given: tuple[str, ...] = ()
    used: bool = False
    result: str = ""
    chance: bool = False
    talks: bool = False
    documented: bool = False


def pretends(shape: Shape) -> bool:
    """Whether a function whose body does no work promises some by its name."""
    if shape.used or _CONSTANT_NAME.search(shape.name) or _CONSTANT_OWNER.search(shape.owner):
        return False
    if _NOTHING.match(shape.result) and not shape.chance:
        return False
    words = [each.lower() for each in _WORDS.findall(shape.name)]
    verb = words[0] if words else ""
    bare = bool(_BARE.match(shape.result))
    if not shape.given:
        return verb in _FETCH and not bare and len(shape.result) > 4  # noqa: PLR2004 - more than an empty literal
    if verb in _COMPUTE or (_ASKS.match(shape.name) and bare and not shape.owner):
        return True
    if verb in _ACT:
        return not shape.owner or shape.talks or not bare
    return verb == "get" and len(words) > 1 and _is_data(shape.result)


def _is_data(result: str) -> bool:
    """Whether a result is a record made up: an object or a list with something in it."""
    return bool(re.match(r"^[\[{(]", result)) and bool(re.search(r"[\"'`]|\d", result)) and ":" in result
