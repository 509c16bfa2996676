"""The doctor's check of a settings file for unknown, deprecated and wrongly typed keys, and for plain-text secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from swarmgate.automation.doctor.problem import Problem
from swarmgate.automation.setting_locations import SettingsFile
from swarmgate.config import Config
from swarmgate.config.base import KEY_SHAPES
from swarmgate.config.loading import merged
from swarmgate.config.setting_errors import KEY_HINT, KEY_IN_FILE, Source, check_providers, known_keys, setting_error
from swarmgate.errors import ConfigError
from swarmgate.ledger.settings.file import Edit, Put, Remove, Rename
from swarmgate.ledger.settings.text import applied

DEPRECATED: dict[tuple[str, ...], str | None] = {
    ("project", "name"): None,
    ("qa_retry_limit",): "[loop] max_rejections",
    ("max_iterations",): "[loop] max_turns",
    ("agents",): "[roles.NAME]",
    ("guardrails",): "[breakers] and [breakers.roles.ROLE]",
    ("inject_phase_reminders",): None,
}
"""Keys that once were, or that users bring from elsewhere, and what does their work here; None: nothing has to.

`project.name` alone was a key of swarmgate. The others are keys of opencode-swarm's configuration, which users bring
along. CamelCase spellings of our own keys need no table: they are the same letters, and `--fix` renames them."""

_Errors = Mapping[tuple[str, ...], ErrorDetails]
_UNKNOWN = {"extra_forbidden"}
_STRICT = {
    "bool_type": "must be true or false, without quotes",
    "int_type": "must be a whole number, without quotes",
    "float_type": "must be a number, without quotes",
}
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_MERGED = {"missing"}
"""What one file alone cannot say: another one may have it."""
_SECRET = re.compile(rf"(?<![A-Za-z0-9_])(?:{KEY_SHAPES.pattern})")
_SECRET_LENGTH = 20


def inspect(file: SettingsFile) -> tuple[Problem, ...]:
    """Every problem of one file of settings, in the order of its lines."""
    errors = errors_of(file.values)
    found = [_problem(file, path, errors) for path in errors]
    return tuple(sorted((*found, *_secrets(file, {each.line for each in found})), key=lambda each: each.line))


def across(sources: list[Source], known: Collection[tuple[str, ...]]) -> Iterator[Problem]:
    """What only all sources together say: keys that none of them has, variables, and models of unknown providers.

    Args:
        sources: the files and the variables, weakest first.
        known: the places of what is wrong in a file by itself.
    """
    try:
        config = Config.model_validate(merged(sources))
    except ValidationError as error:
        for each in error.errors(include_url=False, include_input=False):
            path = _path(each)
            if path not in known and not (each["type"] in _MERGED and _misspelled(path, known)):
                found = setting_error(each, sources)
                yield Problem("settings", found.message, found.where, found.line, found.hint, "error")
        return
    try:
        check_providers(config, sources)
    except ConfigError as error:
        yield Problem("settings", error.message, hint=error.hint, severity="error")


def _misspelled(path: tuple[str, ...], known: Collection[tuple[str, ...]]) -> bool:
    """Whether a key is missing since it stands there under a wrong name."""
    *tables, key = path
    return any([*one[:-1]] == tables and _meant(one[-1], tables) == (key,) for one in known)


def errors_of(values: dict[str, Any]) -> dict[tuple[str, ...], ErrorDetails]:
    """What is wrong with the values of one file, by the place of the key."""
    found: dict[tuple[str, ...], ErrorDetails] = {}
    for strict in (True, False):
        try:
            if strict:  # TOML has types of its own: "no" is no truth value there
                Config.model_validate_json(json.dumps(values, default=str), strict=True)
            else:
                Config.model_validate(values)
        except ValidationError as error:
            for each in error.errors(include_url=False, include_input=False):
                path = _path(each)
                wanted = each["type"] in _STRICT if strict else each["type"] not in _MERGED
                if wanted and path not in found:
                    found[path] = {**each, "msg": _STRICT[each["type"]]} if strict else each
    return found


def _path(error: ErrorDetails) -> tuple[str, ...]:
    return tuple(str(part) for part in error["loc"] if part != "[key]")


def _problem(file: SettingsFile, path: tuple[str, ...], errors: _Errors) -> Problem:
    error = errors[path]
    found = setting_error(error, [Source(file.name, file.values, file.text)])
    message, hint = found.message, found.hint
    edits: tuple[Edit, ...] = ()
    if _unknown(error) and path in DEPRECATED:
        successor = DEPRECATED[path]
        message = f"`{'.'.join(path)}` is no setting{' any more' if path == ('project', 'name') else ' of swarmgate'}"
        hint = f"write {successor}" if successor else "take it out: nothing reads it"
        edits = () if successor else (Remove(path),)
    elif not hint and not _in_list(file.values, path):
        edits = _mending(file.values, path, errors)
        hint = "" if edits else _twin(file, path, error)
    return Problem("settings", message, file.name, file.line(path), hint, "error", edits, fixable=bool(edits))


def _in_list(values: Any, path: Sequence[str]) -> bool:
    """Whether a key stands in a list of tables: such a one is named, and mended by hand."""
    for part in path[:-1]:
        values = values.get(part) if isinstance(values, dict) else None
        if isinstance(values, list):
            return True
    return False


def at(values: Any, tables: Sequence[str]) -> Mapping[str, Any]:
    """The table at a path; an empty one where there is none."""
    for part in tables:
        values = values.get(part) if isinstance(values, dict) else None
    return values if isinstance(values, dict) else {}


def _unknown(error: ErrorDetails) -> bool:
    return error["type"] in _UNKNOWN or error["loc"][-1] == "[key]"


def _mending(values: dict[str, Any], path: tuple[str, ...], errors: _Errors) -> tuple[Edit, ...]:
    """The edits that take a problem away and leave no other one, also none that a wrong name hid; empty: none do."""
    candidates = _renames(path, values) if _unknown(errors[path]) else _values(path, errors[path]["type"], values)
    for edit in candidates:
        try:
            now = applied(values, edit)
        except ConfigError:
            continue
        after, edits = errors_of(now), [edit]
        hidden = [each for each in after if each not in errors]
        for each in hidden:
            more = _mending(now, each, after)
            edits += more
            for further in more:
                now = applied(now, further)
        left = errors_of(now)
        if path not in left and left.keys() <= errors.keys():
            return tuple(edits)
    return ()


def _renames(path: tuple[str, ...], values: dict[str, Any]) -> Iterator[Edit]:
    """The one known key that an unknown one stands for, where no other key stands for it too.

    An empty table stands back: it would keep the name from one that says something.
    """
    *tables, key = path
    meant = _meant(key, tables)
    table = at(values, tables)
    rivals = [each for each in table if each != key and meant and each not in meant and _meant(each, tables) == meant]
    filled = [each for each in rivals if table[each] != {}]
    if len(meant) == 1 and not filled and (table[key] != {} or not rivals):
        yield Rename(path, meant[0])


def _meant(key: str, tables: Sequence[str]) -> tuple[str, ...]:
    """The known keys that have the same letters, or else those that are a single slip away."""
    known = known_keys(tables)
    same = tuple(each for each in known if _letters(each) == _letters(key))
    return same or tuple(each for each in known if slips(key.lower(), each) == 1 and len(each) > 3)  # noqa: PLR2004 - a short word is one slip from many


def _twin(file: SettingsFile, path: tuple[str, ...], error: ErrorDetails) -> str:
    """What to do where a key has its right name in the file too, or another key was meant for it."""
    *tables, key = path
    meant = _meant(key, tables) if _unknown(error) else ()
    others = [
        each for each in at(file.values, tables) if each != key and (each in meant or _meant(each, tables) == meant)
    ]
    if len(meant) != 1 or not others:
        return ""
    line = file.line((*tables, others[0]))
    return f"`{others[0]}`{f' in line {line}' if line else ''} means the same: keep one of them, as `{meant[0]}`"


def _letters(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


def slips(one: str, other: str) -> int:
    """Letters that were left out, added, changed or swapped with the next; 2 for two and more."""
    if one == other:
        return 0
    if abs(len(one) - len(other)) > 1:
        return 2
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    rest, over = one[at:], other[at:]
    swapped = rest[1:2] + rest[:1] + rest[2:] == over
    return 1 if swapped or over in {rest[1:], over[:1] + rest[1:]} or rest == over[1:] else 2


def _values(path: tuple[str, ...], kind: str, values: dict[str, Any]) -> Iterator[Edit]:
    """The one value of the right type that was clearly meant."""
    held = at(values, path[:-1]).get(path[-1])
    if kind == "bool_type" and isinstance(held, str) and held.strip().lower() in _WORDS:
        yield Put(path, _WORDS[held.strip().lower()])
    elif kind in {"int_type", "float_type"} and isinstance(held, str):
        text = held.strip()  # "5,000" is five or five thousand
        if re.fullmatch(r"-?\d+(_\d{3})*", text):
            yield Put(path, int(text))
        elif kind == "float_type" and re.fullmatch(r"-?\d+\.\d+", text):
            yield Put(path, float(text))
    elif kind == "int_type" and isinstance(held, float) and held.is_integer():
        yield Put(path, int(held))
    elif kind == "tuple_type" and isinstance(held, str) and re.fullmatch(r"[^\s,;]+", held):
        yield Put(path, [held])


def _secrets(file: SettingsFile, reported: set[int]) -> Iterator[Problem]:
    """Lines with what looks like a key of a provider, comments among them: the file is committed."""
    for number, line in enumerate(file.text.splitlines(), start=1):
        found = [match[0] for match in _SECRET.finditer(line)]
        if number not in reported and any(len(each) >= _SECRET_LENGTH and re.search(r"\d", each) for each in found):
            yield Problem(
                "settings",
                KEY_IN_FILE,
                file.name,
                number,
                KEY_HINT,
                "error",
            )
