"""Compares two function signatures and tells which calls break, by keyword (Python) and by position (others)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.gates.contracts import typing_forms
from swarmgate.gates.contracts.model import ParameterKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from swarmgate.gates.contracts.model import Parameter, Signature


class Difference(NamedTuple):
    """A breaking difference of a signature: rule suffix, parameter, message, whether it only informs."""

    rule: str
    parameter: str
    detail: str
    soft: bool = False


def by_keyword(old: Signature, new: Signature) -> list[Difference]:
    """Compare with Python's rules: names and positions are both part of the API."""
    return list(_Keyword(old, new).differences())


class _Keyword:
    def __init__(self, old: Signature, new: Signature) -> None:
        self.old, self.new = old, new
        self.by_name = {each.name: each for each in new if not each.kind.variadic}
        self.old_names = {each.name for each in old if not each.kind.variadic}
        kinds = {each.kind for each in new}
        self.rest, self.keyword_rest = ParameterKind.REST in kinds, ParameterKind.KEYWORD_REST in kinds
        self.old_positions = [each for each in old if each.kind.positional]
        self.new_positions = [each for each in new if each.kind.positional]
        self.renamed: set[str] = set()

    def differences(self) -> Iterator[Difference]:
        for each in self.old:
            if each.kind.variadic:
                yield from self._variadic(each)
            elif each.name in self.by_name:
                yield from self._same(each, self.by_name[each.name])
            else:
                yield from self._removed(each)
        for each in self.new:
            if each.required and not each.kind.variadic and each.name not in self.old_names | self.renamed:
                yield Difference("parameter-added-required", each.name, f"new required parameter `{each.name}`")
        yield from self._moved()

    def _variadic(self, old: Parameter) -> Iterator[Difference]:
        stars = "*" if old.kind is ParameterKind.REST else "**"
        if not (self.rest if old.kind is ParameterKind.REST else self.keyword_rest):
            yield Difference("parameter-removed", old.name, f"`{stars}{old.name}` was removed")

    def _removed(self, old: Parameter) -> Iterator[Difference]:
        here = self._at_position(old)
        if old.kind is ParameterKind.POSITIONAL and here and here.name not in self.old_names:
            self.renamed.add(here.name)  # the name of a positional-only parameter is nobody's business
            return
        swallowed = {
            ParameterKind.KEYWORD: self.keyword_rest,
            ParameterKind.POSITIONAL: self.rest,
            ParameterKind.EITHER: self.rest and self.keyword_rest,
        }[old.kind]
        if swallowed:
            return
        other = here if here and here.name not in self.old_names else self._sole_keyword(old)
        if other:
            self.renamed.add(other.name)
            yield Difference(
                "parameter-renamed", old.name, f"parameter `{old.name}` was renamed to `{other.name}`"
            )  # fmt: skip
        else:
            yield Difference("parameter-removed", old.name, f"parameter `{old.name}` was removed")

    def _at_position(self, old: Parameter) -> Parameter | None:
        if not old.kind.positional:
            return None
        index = self.old_positions.index(old)
        return self.new_positions[index] if index < len(self.new_positions) else None

    def _sole_keyword(self, old: Parameter) -> Parameter | None:
        if old.kind is not ParameterKind.KEYWORD:
            return None
        fresh = [e for e in self.new if e.kind is ParameterKind.KEYWORD and e.name not in self.old_names]
        removed = [e for e in self.old if e.kind is ParameterKind.KEYWORD and e.name not in self.by_name]
        return fresh[0] if len(fresh) == len(removed) == 1 else None

    def _same(self, old: Parameter, new: Parameter) -> Iterator[Difference]:
        name = old.name
        if new.required and not old.required:
            yield Difference("parameter-required", name, f"parameter `{name}` became required")
        wants_position = old.kind.positional and not new.kind.positional
        wants_name = old.kind is not ParameterKind.POSITIONAL and new.kind is ParameterKind.POSITIONAL
        if (wants_position and not self.rest) or (wants_position and new.required) or wants_name:
            yield Difference(
                "parameter-kind-changed", name, f"parameter `{name}` became {new.kind} (was {old.kind})"
            )  # fmt: skip
        if not (old.required or new.required) and old.default != new.default:
            detail = f"the default of `{name}` changed from {old.default} to {new.default}"
            yield Difference("parameter-default-changed", name, detail, soft=True)
        if typing_forms.clash(old.type, new.type):
            detail = f"parameter `{name}` takes {new.type} instead of {old.type}"
            yield Difference("parameter-type-changed", name, detail, soft=True)

    def _moved(self) -> Iterator[Difference]:
        # A removed, renamed or new required parameter shifts the others: it is told once, as what it is.
        stay = [each.name for each in self.old_positions if each.name in {new.name for new in self.new_positions}]
        order = [each.name for each in self.new_positions]
        now = [name for name in order if name in stay]
        optional = [each for each in self.new_positions if each.name not in self.old_names | self.renamed]
        if now != stay:
            moved = next(name for name, other in zip(stay, now, strict=True) if name != other)
            yield Difference("parameter-moved", moved, f"parameter `{moved}` changed its position")
            return
        for each in optional:
            after = [name for name in order[order.index(each.name) :] if name in stay]
            if after and not each.required:
                detail = f"`{after[0]}` changed its position: `{each.name}` was put before it"
                yield Difference("parameter-moved", after[0], detail)
                return


def by_position(old: Signature, new: Signature, fits: Callable[[str, str], bool]) -> list[Difference]:
    """Compare without keyword arguments: position, number and type count, names do not.

    `fits(old, new)`: whether an argument of the old type may be given where the new one is declared.
    """
    return list(_by_position(old, new, fits))


def _by_position(old: Signature, new: Signature, fits: Callable[[str, str], bool]) -> Iterator[Difference]:
    was, now = [each for each in old if not each.kind.variadic], [each for each in new if not each.kind.variadic]
    names, fresh = Counter(each.name for each in was), Counter(each.name for each in now)
    rest = [next((e for e in side if e.kind.variadic), None) for side in (old, new)]
    extra = [each for each in now if each.required and not names[each.name]]
    if len(now) < len(was) and not rest[1]:
        removed = next((each for each in was if not fresh[each.name]), was[-1])
        yield Difference("parameter-removed", removed.name, f"parameter `{removed.name}` was removed")
        return
    if len(now) > len(was) and any(each.required for each in now[len(was) :]):
        added = (extra or [each for each in now[len(was) :] if each.required])[0]
        yield Difference("parameter-added-required", added.name, f"new required parameter `{added.name}`")
        return
    if rest[0] and not rest[1]:
        yield Difference("parameter-removed", rest[0].name, f"`...{rest[0].name}` was removed")
    if rest[0] and rest[1] and not fits(rest[0].type, rest[1].type):
        detail = f"`...{rest[1].name}` takes {rest[1].type} instead of {rest[0].type}"
        yield Difference("parameter-type-changed", rest[1].name, detail)
    place = {each.name: index for index, each in enumerate(now)}
    for index, each in enumerate(was):
        moved = each.name in place and place[each.name] != index and fresh[each.name] == names[each.name] == 1
        if moved:
            yield Difference("parameter-moved", each.name, f"parameter `{each.name}` changed its position")
            return
    for before, after in zip(was, now, strict=False):
        yield from _pair(before, after, fits)


def _pair(old: Parameter, new: Parameter, fits: Callable[[str, str], bool]) -> Iterator[Difference]:
    if new.required and not old.required:
        yield Difference("parameter-required", new.name, f"parameter `{new.name}` became required")
    was, now = dict(old.keys), dict(new.keys)
    if was and now and "..." not in now:
        for key in sorted(was.keys() - now.keys() - {"..."}):
            yield Difference("parameter-removed", key, f"`{key}` is no longer taken out of the argument")
    if not fits(old.type, new.type):
        yield Difference("parameter-type-changed", new.name, f"`{new.name}` takes {new.type} instead of {old.type}")
    elif old.default and new.default and old.default != new.default:
        detail = f"the default of `{new.name}` changed from {old.default} to {new.default}"
        yield Difference("parameter-default-changed", new.name, detail, soft=True)
