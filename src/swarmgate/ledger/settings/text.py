"""Edits the text of a TOML file, preserving comments, order and spacing. Pure.

Several ways can make an edit. None is trusted: what one made counts where it parses to exactly what was meant.
"""

from __future__ import annotations

import contextlib
import copy
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from swarmgate.config import toml_text
from swarmgate.errors import ConfigError

_BOM = "\ufeff"
_LONG_TEXTS = re.compile(r'"""[\s\S]*?"""|' + r"'''[\s\S]*?'''")
_PART = r"""(?:"[^"\n]*"|'[^'\n]*'|[\w-]+)"""
_KEY = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"\s*\[\s*({_KEY})\s*\]\s*(?:#.*)?$")
_ASSIGNMENT = re.compile(rf"\s*({_KEY})\s*=")
_COMMENTED = re.compile(r"^# ?")


@dataclass(frozen=True, slots=True)
class Put:
    """Sets a key; tables on the way to it are made."""

    path: tuple[str, ...]
    value: Any


@dataclass(frozen=True, slots=True)
class Rename:
    """Gives a key or a table another name, where it stands."""

    path: tuple[str, ...]
    name: str


@dataclass(frozen=True, slots=True)
class Remove:
    """Takes a key out."""

    path: tuple[str, ...]


Edit = Put | Rename | Remove


def changed(text: str, edits: Sequence[Edit]) -> str:
    """The TOML text with edits made in it; comments, order and spacing stay.

    Raises:
        ConfigError: the text is not valid TOML, or cannot hold an edit (a value stands where a table is needed).
    """
    mark, text = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    for edit in edits:
        text = _edited(text, edit)
    return mark + text


def applied(values: dict[str, Any], edit: Edit) -> dict[str, Any]:
    """The same edit on the values alone.

    Raises:
        ConfigError: they cannot hold it.
    """
    result = copy.deepcopy(values)
    *tables, key = edit.path
    place = result
    for name in tables:
        place = place.setdefault(name, {}) if isinstance(edit, Put) else place.get(name, {})
        if not isinstance(place, dict):
            raise ConfigError(f"`{'.'.join(edit.path)}` cannot be set: `{name}` is a value, not a table")
    if isinstance(edit, Put):
        place[key] = edit.value
    elif key not in place:
        raise ConfigError(f"there is no key `{'.'.join(edit.path)}`")
    elif isinstance(edit, Remove):
        del place[key]
    elif edit.name in place:
        raise ConfigError(f"`{key}` cannot become `{edit.name}`: that is set too")
    else:
        place[edit.name] = place.pop(key)
    return result


def same(one: Any, other: Any) -> bool:
    """Whether two values of TOML are the same, in type too: 1 is not true, and 1.0 is not 1."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) or (one != one and other != other)  # noqa: PLR0124 - nan is not itself


def _edited(text: str, edit: Edit) -> str:
    """One edit. Whatever wrote the new text, it counts only where it says what was meant."""
    try:
        values = toml_text.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"this is not valid TOML: {error}", hint="mend that line, then try again") from error
    wanted = applied(values, edit)
    if same(wanted, values):
        return text
    meant = (wanted, _without_empty(wanted, edit.path[:-1])) if isinstance(edit, Remove) else (wanted,)
    for way in _WAYS[type(edit)]:
        with contextlib.suppress(Exception):  # tomlkit has errors of many kinds; what it made is judged below
            made = way(text, edit)
            found = toml_text.loads(made)
            if any(same(found, each) for each in meant):
                return made
    raise ConfigError(
        f"`{'.'.join(edit.path)}` cannot be changed where it stands without touching what is beside it",
        hint="change it by hand",
    )


def _without_empty(values: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """The values without the tables on a path that are empty: a dotted key that is taken out takes its table along."""
    if not path:
        return values
    name, *rest = path
    inner = _without_empty(values[name], tuple(rest))
    others = {key: value for key, value in values.items() if key != name}
    return {key: inner if key == name else others[key] for key in values if key != name or inner}


def _uncommented(text: str, edit: Put) -> str:
    """Where the table, or the key in it, stands as a comment, as in the template: there it is made a setting.

    Beside it, the table would stand twice as soon as somebody takes the comment's mark away.
    """
    *tables, key = edit.path
    lines = text.splitlines(keepends=True)
    bare = [_COMMENTED.sub("", each) for each in _plain(text)]
    headers = [
        at for at, each in enumerate(bare) if (match := _HEADER.match(each)) and _parts(match[1]) == tuple(tables)
    ]
    at = next((each for each in headers if not lines[each].startswith("#")), headers[0])
    lines[at] = _COMMENTED.sub("", lines[at])
    for below in range(at + 1, len(lines)):
        if not bare[below].strip() or _HEADER.match(bare[below]):
            break
        if (match := _ASSIGNMENT.match(bare[below])) and _parts(match[1]) == (key,) and lines[below].startswith("#"):
            lines[below] = _COMMENTED.sub("", lines[below])
            return _rewritten("".join(lines), edit)
    return _inserted("".join(lines), edit)


def _rewritten(text: str, edit: Put | Remove) -> str:
    """By tomlkit: where the key stands already, or stands in an inline table."""
    import tomlkit  # noqa: PLC0415 - late: only who writes needs it

    document = tomlkit.parse(text)
    place: Any = document
    *tables, key = edit.path
    for name in tables:
        if name not in place:
            inline = isinstance(place, tomlkit.items.InlineTable)
            place[name] = tomlkit.inline_table() if inline else tomlkit.table()
        place = place[name]
    if isinstance(edit, Remove):
        del place[key]
    else:
        place[key] = edit.value
    return tomlkit.dumps(document)


def _inserted(text: str, edit: Put) -> str:
    """A new line at the end of what its table says, before the comments that belong to the next one.

    A key that stands already makes this no TOML, and `_rewritten` is asked.
    """
    import tomlkit  # noqa: PLC0415 - late: only who writes needs it

    end = "\r\n" if "\r\n" in text else "\n"
    if text and not text.endswith("\n"):
        text += end
    *tables, key = edit.path
    line = f"{tomlkit.key(key).as_string()} = {tomlkit.item(edit.value).as_string()}{end}"
    for depth in range(len(tables), 0, -1):
        region = _region(text, tuple(tables[:depth]))
        if region is not None:
            header = "" if depth == len(tables) else f"{end}[{_dotted(tables)}]{end}"
            lines = text.splitlines(keepends=True)
            return "".join([*lines[:region], header + line, *lines[region:]])
    if not tables:
        return _at_root(text, line)
    new = f"[{_dotted(tables)}]{end}{line}"
    below = _first_below(text, tuple(tables))
    if below is not None:
        lines = text.splitlines(keepends=True)
        return "".join([*lines[:below], new, end, *lines[below:]])
    return f"{text}{end if text.strip() else ''}{new}"


def _first_below(text: str, table: tuple[str, ...]) -> int | None:
    """The index of the first header of a table below `[table]`; None where there is none."""
    headers = ((at, _HEADER.match(each)) for at, each in enumerate(_plain(text)))
    return next((at for at, match in headers if match and _parts(match[1])[: len(table)] == table), None)


def _at_root(text: str, line: str) -> str:
    lines = text.splitlines(keepends=True)
    headers = [at for at, each in enumerate(_plain(text)) if _HEADER.match(each)]
    until = headers[0] if headers else len(lines)
    return "".join([*lines[:until], line, *lines[until:]])


def _region(text: str, table: tuple[str, ...]) -> int | None:
    """The index of the line after the last one that belongs to `[table]`; None where it has no header."""
    inside, last = False, None
    for at, line in enumerate(_plain(text)):
        if match := _HEADER.match(line):
            inside = _parts(match[1]) == table
        if inside and line.strip() and not line.lstrip().startswith("#"):
            last = at + 1
    return last


def _renamed(text: str, edit: Rename) -> str:
    """Each header and each key that spells the path out, with the new name in the place of the last part of it."""
    table: tuple[str, ...] = ()
    lines = text.splitlines(keepends=True)
    for at, plain in enumerate(_plain(text)):
        above: tuple[str, ...] = ()
        if match := _HEADER.match(plain):
            table = _parts(match[1])
        elif match := _ASSIGNMENT.match(plain):
            above = table
        else:
            continue
        here = (*above, *_parts(match[1]))
        number = len(edit.path) - 1 - len(above)
        if here[: len(edit.path)] == edit.path and number >= 0:
            start, stop = [each.span() for each in re.finditer(_PART, match[1])][number]
            line, offset = lines[at], match.start(1)
            lines[at] = f"{line[: offset + start]}{edit.name}{line[offset + stop :]}"
    return "".join(lines)


def _removed(text: str, edit: Remove) -> str:
    """Without the lines of the key; the comment behind its value becomes a line of its own."""
    lines = text.splitlines(keepends=True)
    start = _line(text, edit.path)
    stops = (at for at in range(start + 1, len(lines) + 1) if _parses("".join(lines[start:at])))
    stop = next(stops)
    removed = "".join(lines[start:stop])
    marks = (match.start() for match in re.finditer("#", removed))
    comment = next((removed[at:] for at in marks if _parses(removed[:at])), "")
    return "".join([*lines[:start], comment, *lines[stop:]])


def _line(text: str, path: tuple[str, ...]) -> int:
    """The index of the line that sets a key."""
    table: tuple[str, ...] = ()
    for at, line in enumerate(_plain(text)):
        if match := _HEADER.match(line):
            table = _parts(match[1])
        elif (match := _ASSIGNMENT.match(line)) and (*table, *_parts(match[1])) == path:
            return at
    raise ConfigError(f"`{'.'.join(path)}` has no line of its own")


def _parses(text: str) -> bool:
    try:
        toml_text.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _plain(text: str) -> list[str]:
    """The lines, with long texts emptied: what stands in them is no key. As many as `text` has."""
    bare = _LONG_TEXTS.sub(lambda match: "''" + "\n" * len(match[0].splitlines()[1:]), text)
    return bare.splitlines()


def _parts(key: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_PART, key))


def _dotted(tables: Sequence[str]) -> str:
    import tomlkit  # noqa: PLC0415 - late: only who writes needs it

    return ".".join(tomlkit.key(name).as_string() for name in tables)


_WAYS: dict[type, tuple[Callable[[str, Any], str], ...]] = {
    Put: (_uncommented, _inserted, _rewritten),
    Rename: (_renamed,),
    Remove: (_removed, _rewritten),
}
"""Who can make an edit, in the order in which they are asked."""
