"""Compares two API surfaces of the same module and lists the breaking changes, for every language."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from swarmgate.gates.contracts import typing_forms
from swarmgate.gates.contracts.model import Break
from swarmgate.gates.contracts.signatures import Difference, by_keyword, by_position

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from swarmgate.gates.contracts.model import Call, Signature, Surface, Symbol

    Supplies = Callable[[Surface, Symbol, str], bool]
    """Whether a class gets this member, or this base, from somewhere that the file does not show."""


@dataclass(frozen=True)
class Dialect:
    """The comparison rules of a language: `keywords`: parameter names count; `exact`: types compare as text."""

    keywords: bool = False
    exact: bool = False


_CALLABLE = {"function", "class"}
_TRAITS = {
    "async": ("async-changed", "became async", "is no longer async"),
    "static": ("binding-changed", "became static", "is no longer static"),
    "class": ("binding-changed", "became a class method", "is no longer a class method"),
    "context": ("kind-changed", "became a context manager", "is no longer a context manager"),
    "abstract": ("abstract-added", "became abstract", ""),
    "final": ("final-added", "became final", ""),
    "protected": ("visibility-reduced", "became protected", ""),
    "unsafe": ("binding-changed", "became unsafe", ""),
    "const": ("binding-changed", "", "is no longer const"),
    "readonly": ("readonly", "can no longer be written", ""),
    "writable": ("readonly", "", "can no longer be written"),
    "receiver": ("binding-changed", "needs a pointer as receiver now", ""),
    "default": ("unexported", "", "is no longer the default export"),
    "exported": ("unexported", "", "was taken out of `__all__`"),
    "valued": ("field-required", "", "has no value in its class any more"),
}


def compare(old: Surface, new: Surface, dialect: Dialect, supplies: Supplies) -> list[Break]:
    """Every break from `old` to `new`, of private names too (`public` tells them apart)."""
    return list(_Comparison(old, new, dialect, supplies).breaks())


class _Comparison:
    def __init__(self, old: Surface, new: Surface, dialect: Dialect, supplies: Supplies) -> None:
        self.old, self.new, self.dialect, self.supplies = old, new, dialect, supplies

    def breaks(self) -> Iterator[Break]:
        near: Symbol | None = None
        for name, symbol in self.old.symbols.items():
            now = self.new.symbols.get(name)
            if now is not None:
                near = now
                yield from self._symbol(name, symbol, now, public=symbol.public)
            elif not self.new.open and name not in self.new.spoken:
                lost = self._break("removed", name, f"{_title(symbol)} was removed", symbol, None, public=symbol.public)
                yield _with_hint(lost, near)

    def _break(
        self, rule: str, name: str, detail: str, old: Symbol | None, new: Symbol | None, *, public: bool,
        soft: bool = False, parameter: str = "",
    ) -> Break:  # fmt: skip
        place = new or old
        return Break(
            rule=f"contract-{rule}", unit=self.old.unit, name=name, detail=detail, old=old, new=new, public=public,
            soft=soft, parameter=parameter, path=(place.path if place else "") or self.new.path,
            line=new.line if new else 0, home=self.new.path,
        )  # fmt: skip

    def _symbol(self, name: str, old: Symbol, new: Symbol, *, public: bool) -> Iterator[Break]:
        if "alias" in {old.kind, new.kind} or old.ambiguous or new.ambiguous:
            return
        if not _same_kind(old, new):
            detail = f"{_title(old)} became {_an(new.kind)}"
            yield self._break("kind-changed", name, detail, old, new, public=public)
            return
        if "open" in old.traits | new.traits:
            return  # whatever an expression made of it
        if public and not new.public and not self.dialect.keywords:  # Python's publicness is its module's affair
            detail = f"{_title(old)} is no longer public"
            yield self._break("visibility-reduced", name, detail, old, new, public=public)
            return
        for rule, detail in self._traits(old, new):
            yield self._break(rule, name, f"{_title(old)} {detail}", old, new, public=public)
        for each in self._calls(old, new):
            if "fields" in old.traits and each.rule in {"parameter-removed", "parameter-renamed"}:
                continue  # told as the field that was removed
            yield self._break(
                each.rule, name, each.detail, old, new, public=public, soft=each.soft, parameter=each.parameter
            )
        yield from self._type(name, old, new, public=public)
        yield from self._bases(name, old, new, public=public)
        yield from self._members(name, old, new, public=public)

    def _traits(self, old: Symbol, new: Symbol) -> Iterator[tuple[str, str]]:
        for trait, (rule, gained, lost) in _TRAITS.items():
            had, has = trait in old.traits, trait in new.traits
            text = gained if has else lost
            unsure = trait == "async" and "passing" in old.traits | new.traits
            if had != has and text and not unsure and not _elsewise(trait, new):
                yield rule, text

    def _calls(self, old: Symbol, new: Symbol) -> Iterator[Difference]:
        if not old.calls or not new.calls:
            return
        if bool(old.body) != bool(new.body):  # overloads came or went: what the body takes is what can be compared
            yield from self._signature((old.body or old.calls[0]).parameters, (new.body or new.calls[0]).parameters)
            return
        left = [call for call in old.calls if not any(self._keeps(call, other) for other in new.calls)]
        free = [call for call in new.calls if not any(self._keeps(other, call) for other in old.calls)]
        for call in left:
            nearest = min(free or new.calls, key=lambda other: abs(len(other.parameters) - len(call.parameters)))
            if len(old.calls) > len(new.calls) and not free:
                yield Difference("overload-removed", "", f"the form {call.text or old.text} was removed")
                continue
            yield from self._call(call, nearest)
            if nearest in free:
                free.remove(nearest)

    def _keeps(self, old: Call, new: Call) -> bool:
        return not list(self._call(old, new))

    def _call(self, old: Call, new: Call) -> Iterator[Difference]:
        yield from self._signature(old.parameters, new.parameters)
        same = old.returns == new.returns if self.dialect.exact else typing_forms.gives(old.returns, new.returns)
        if not same:
            detail = f"returns {new.returns or 'nothing declared'} instead of {old.returns or 'nothing'}"
            yield Difference("return-changed", "", detail, soft=not self.dialect.exact)

    def _signature(self, old: Signature, new: Signature) -> list[Difference]:
        if self.dialect.keywords:
            return by_keyword(old, new)
        return by_position(old, new, _same if self.dialect.exact else _fits)

    def _type(self, name: str, old: Symbol, new: Symbol, *, public: bool) -> Iterator[Break]:
        if old.kind in _CALLABLE:
            return
        if new.required and not old.required and not (old.value and new.value):
            detail = f"{_title(old)} became required"
            yield self._break("field-required", name, detail, old, new, public=public)
        elif old.traits & {"optional"} != new.traits & {"optional"}:
            word = "optional" if "optional" in new.traits else "required"
            yield self._break("field-required", name, f"{_title(old)} became {word}", old, new, public=public)
        if self._other_type(old, new):
            detail = f"{_title(old)} is {new.type or 'untyped'} instead of {old.type}"
            yield self._break("type-changed", name, detail, old, new, public=public, soft=not self.dialect.exact)
        if old.kind == "member" and old.value and new.value and old.value != new.value:
            detail = f"{_title(old)} is {new.value} instead of {old.value}"
            yield self._break("value-changed", name, detail, old, new, public=public, soft=True)

    def _other_type(self, old: Symbol, new: Symbol) -> bool:
        if self.dialect.exact:
            return bool(old.type and new.type) and old.type != new.type
        if self.dialect.keywords:
            return typing_forms.clash(old.type, new.type)
        if old.kind == "type":  # another alternative of a union is no more than an enum's new member
            return typing_forms.narrowed(old.type, new.type)
        return typing_forms.clash(old.type, new.type) or typing_forms.clash(new.type, old.type)

    def _bases(self, name: str, old: Symbol, new: Symbol, *, public: bool) -> Iterator[Break]:
        now = ancestry(self.new, new)
        for base in old.bases:
            if base in now or self.supplies(self.new, new, f"base:{base}"):
                continue
            yield self._break("base-removed", name, f"{name} no longer derives from {base}", old, new, public=public)

    def _still(self, cls: Symbol, member: Symbol) -> bool:
        """Whether a member that its class no longer shows is there, or may be."""
        if "override" in member.traits:
            return True  # its base has one
        required = cls.open and (member.name in self.new.spoken or not self.dialect.keywords)
        return "implicit" in member.traits or required or self.supplies(self.new, cls, member.name)

    def _members(self, name: str, old: Symbol, new: Symbol, *, public: bool) -> Iterator[Break]:
        if not old.members and not new.members:
            return
        now, near = inherited(self.new, new), new
        for key, member in old.members.items():
            near = new.members.get(key, near)
            current, visible = now.get(key), public and member.public
            path = f"{name}.{key}"
            if current is not None:
                yield from self._symbol(path, member, current, public=visible)
            elif not self._still(new, member):
                lost = self._break("removed", path, f"{_title(member)} was removed", member, new, public=visible)
                yield _with_hint(lost, near)
        was = inherited(self.old, old)
        for key, member in new.members.items():
            if member.required and key not in was and not old.open and member.public:
                detail = f"{name} has a new required {member.kind} `{key}`"
                yield self._break("field-required", f"{name}.{key}", detail, old, member, public=public)


def _with_hint(lost: Break, near: Symbol | None) -> Break:
    """What is gone is told at what stood before it and still stands."""
    return replace(lost, line=near.line, path=near.path or lost.path) if near else lost


def ancestry(surface: Surface, symbol: Symbol) -> set[str]:
    """The names of all bases of a class, as far as its own file shows them."""
    found: set[str] = set()
    waiting = list(symbol.bases)
    while waiting:
        base = waiting.pop()
        if base not in found:
            found.add(base)
            here = surface.symbols.get(base)
            waiting += here.bases if here else ()
    return found


def inherited(surface: Surface, symbol: Symbol) -> dict[str, Symbol]:
    """The members of a class with those of its bases in the same file; its own come first."""
    members = dict(symbol.members)
    for base in ancestry(surface, symbol):
        here = surface.symbols.get(base)
        for name, member in (here.members if here and here is not symbol else {}).items():
            members.setdefault(name, member)
    return members


def _same_kind(old: Symbol, new: Symbol) -> bool:
    if old.kind == new.kind:
        return True
    kinds = old.kind, new.kind
    if kinds in {("member", "attribute"), ("attribute", "member")}:
        return True  # its class is an enum no more, or is one now: that is told of its bases
    if kinds == ("attribute", "property") or "open" in old.traits | new.traits:
        return True  # whether it can still be written is told by itself
    return kinds == ("property", "attribute")


def _elsewise(trait: str, new: Symbol) -> bool:
    """An attribute is writable as it is, and a property is its own value."""
    return (trait, new.kind) in {("writable", "attribute"), ("valued", "property")}


def _same(old: str, new: str) -> bool:
    return new in {old, "any"}  # Go's any takes whatever was given before


def _fits(old: str, new: str) -> bool:
    return not typing_forms.clash(old, new)


def _title(symbol: Symbol) -> str:
    return f"{'re-export' if symbol.kind == 'alias' else symbol.kind} `{symbol.name}`"


def _an(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
