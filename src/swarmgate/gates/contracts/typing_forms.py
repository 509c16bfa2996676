"""Decides whether a changed type annotation certainly means something else than the old one.

Only what can be told from the text is told: an unknown name may be a subclass, an alias or a protocol of the other.
"""

from __future__ import annotations

import functools
import re

_SPELLING = {
    "List": "list", "Dict": "dict", "Tuple": "tuple", "Set": "set", "FrozenSet": "frozenset", "Type": "type",
    "Text": "str", "AnyStr": "str", "object": "Any", "unknown": "Any", "any": "Any", "NoneType": "None", "void": "None",
    "undefined": "None", "AbstractContextManager": "ContextManager",
    "AbstractAsyncContextManager": "AsyncContextManager",
}  # fmt: skip
_CONCRETE = frozenset({
    "int", "str", "bytes", "bool", "float", "complex", "list", "dict", "tuple", "set", "frozenset", "bytearray", "type",
    "None", "string", "number", "boolean", "bigint", "symbol", "null",
})  # fmt: skip
_NARROWER = {
    "Iterable": "list tuple set frozenset dict str Iterator Generator Sequence Collection Mapping deque",
    "Iterator": "Generator",
    "Collection": "list tuple set frozenset dict Sequence Mapping",
    "Sequence": "list tuple str",
    "Mapping": "dict MutableMapping OrderedDict defaultdict",
    "MutableMapping": "dict", "MutableSequence": "list", "AbstractSet": "set frozenset",
    "float": "int", "complex": "int float", "int": "bool",
    "AsyncIterable": "AsyncIterator AsyncGenerator", "AsyncIterator": "AsyncGenerator", "Awaitable": "Coroutine",
}  # fmt: skip
_QUALIFIED = re.compile(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])")
_NAME = re.compile(r"[A-Za-z_]\w*")


@functools.lru_cache(maxsize=4096)
def normal(text: str) -> str:
    """The normal form of a type: no quotes, no module prefixes, `X | None` for Optional, sorted unions."""
    plain = text.replace("'", "").replace('"', "")
    plain = _QUALIFIED.sub("", plain)
    plain = _NAME.sub(lambda match: _SPELLING.get(match[0], match[0]), plain)
    plain = re.sub(r"\s+", " ", plain).strip()
    plain = re.sub(r"\s*([\[\](){}<>|&,:;?=])\s*", r"\1", plain)
    plain = re.sub(r"[,;](?=[\])}>])", "", plain)
    return "|".join(sorted(_parts(plain)))


def _parts(text: str) -> set[str]:
    """The alternatives of a union, however it is written."""
    head, _, inner = text.partition("[")
    if head in {"Optional", "Union"} and text.endswith("]"):
        found = {part for each in _split(inner[:-1], ",") for part in _parts(each)}
        return found | ({"None"} if head == "Optional" else set())
    if head in {"Annotated", "Final", "ClassVar", "Required"} and text.endswith("]"):
        return _parts(_split(inner[:-1], ",")[0])
    parts = _split(text, "|")
    if len(parts) == 1:
        bare = parts[0]
        if "[" in bare and bare.endswith("]"):
            return {f"{head}[{','.join(normal(each) for each in _split(inner[:-1], ','))}]"}
        return {bare} if bare else set()
    return {each for part in parts for each in _parts(part)}


def _split(text: str, mark: str) -> list[str]:
    depth, start, found = 0, 0, []
    for index, char in enumerate(text):
        depth += (char in "[({<") - (char in "])}" or (char == ">" and text[index - 1 : index] not in ("=", "-")))
        if char == mark and depth <= 0:
            found.append(text[start:index].strip())
            start = index + 1
    return [*found, text[start:].strip()]


def accepts(old: str, new: str) -> bool:
    """Whether a parameter declared as `new` may still accept what `old` accepted."""
    was, now = set(_split(normal(old), "|")), set(_split(normal(new), "|"))
    return was <= now or "Any" in now or all(any(_fits(each, other) for other in now) for each in was)


def gives(old: str, new: str) -> bool:
    """Whether a result declared as `new` satisfies callers that expect `old`; None alone promises nothing."""
    was, now = set(_split(normal(old), "|")), set(_split(normal(new), "|"))
    if not old or was <= {"None"} or now <= was or now & {"Any", "Self"} or was & {"Any", "NoReturn", "Never", "Self"}:
        return True
    return bool(new) and accepts(new, old)


def clash(old: str, new: str) -> bool:
    """Whether a parameter certainly no longer accepts `old`: both sides name concrete types only."""
    if not old or not new or accepts(old, new):
        return False
    names = {name for text in (old, new) for name in _NAME.findall(normal(text))}
    return names <= _CONCRETE


def narrowed(old: str, new: str) -> bool:
    """Whether a named type lost an alternative, or certainly became another one."""
    was, now = set(_split(normal(old), "|")), set(_split(normal(new), "|"))
    return bool(old and new) and (now < was or clash(old, new))


def _fits(narrow: str, wide: str) -> bool:
    """Whether `narrow` is one of the kinds of `wide` that the standard library knows."""
    head, other = narrow.partition("[")[0], wide.partition("[")[0]
    if narrow == wide or (head == other and ("[" not in narrow or "[" not in wide)):
        return True
    if head not in _NARROWER.get(other, "").split():
        return False
    inside = [each.partition("[")[2] for each in (narrow, wide)]
    return not all(inside) or inside[0] == inside[1] or head in {"tuple", "Generator", "AsyncGenerator", "Coroutine"}
