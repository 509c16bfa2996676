"""Keys and values of a settings file: all that are unknown, deprecated or of the wrong type, and keys in the open."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from swarmgate.automation.doctor.places import Written
from swarmgate.automation.doctor.problem import Problem
from swarmgate.config import Config
from swarmgate.config.base import KEY_SHAPES
from swarmgate.config.refusals import Source, known_keys, refusal
from swarmgate.errors import ConfigError
from swarmgate.ledger.settings_file import Edit, Put, Remove, Rename
from swarmgate.ledger.settings_text import applied

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


def look(file: Written) -> tuple[Problem, ...]:
    """Every problem of one file of settings, in the order of its lines."""
    errors = errors_of(file.values)
    found = [_problem(file, path, error, errors) for path, error in errors.items()]
    return tuple(sorted((*found, *_secrets(file, {each.line for each in found})), key=lambda each: each.line))


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
                path = tuple(str(part) for part in each["loc"] if part != "[key]")
                wanted = each["type"] in _STRICT if strict else each["type"] not in _MERGED
                if wanted and path not in found:
                    found[path] = {**each, "msg": _STRICT[each["type"]]} if strict else each
    return found


def _problem(
    file: Written, path: tuple[str, ...], error: ErrorDetails, errors: dict[tuple[str, ...], ErrorDetails]
) -> Problem:
    said = refusal(error, [Source(file.name, file.values, file.text)]).message
    message = re.sub(rf"^{re.escape(file.name)}(, line \d+)?: ", "", said)
    unknown = error["type"] in _UNKNOWN or error["loc"][-1] == "[key]"
    hint = ""
    candidates: Iterator[Edit]
    if unknown and path in DEPRECATED:
        successor = DEPRECATED[path]
        message = f"`{'.'.join(path)}` is no setting{' any more' if path == ('project', 'name') else ' of swarmgate'}"
        hint = f"write {successor}" if successor else "take it out: nothing reads it"
        candidates = iter([] if successor else [Remove(path)])
    else:
        candidates = _renames(path) if unknown else _values(path, error["type"], file.values)
    edit = next((each for each in candidates if _mends(file.values, each, path, errors)), None)
    return Problem("settings", message, file.name, file.line(path), hint, "error", edit, fixable=edit is not None)


def _mends(
    values: dict[str, Any], edit: Edit, path: tuple[str, ...], errors: dict[tuple[str, ...], ErrorDetails]
) -> bool:
    """Whether an edit takes the problem away and makes no other one."""
    try:
        after = errors_of(applied(values, edit))
    except ConfigError:
        return False
    return path not in after and after.keys() <= errors.keys()


def _renames(path: tuple[str, ...]) -> Iterator[Edit]:
    """The one known key that has the same letters, or else the one that is a single slip away."""
    *tables, key = path
    known = known_keys(tables)
    same = [each for each in known if _letters(each) == _letters(key)]
    near = same or [each for each in known if slips(key.lower(), each) == 1 and len(each) > 3]  # noqa: PLR2004 - a short word is one slip from many
    if len(near) == 1:
        yield Rename(path, near[0])


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
    held: Any = values
    for part in path:
        held = held.get(part) if isinstance(held, dict) else None
    if kind == "bool_type" and isinstance(held, str) and held.strip().lower() in _WORDS:
        yield Put(path, _WORDS[held.strip().lower()])
    elif kind in {"int_type", "float_type"} and isinstance(held, str):
        text = held.strip().replace(",", "_")
        if re.fullmatch(r"-?\d+(_\d{3})*", text):
            yield Put(path, int(text))
        elif kind == "float_type" and re.fullmatch(r"-?\d+\.\d+", text):
            yield Put(path, float(text))
    elif kind == "int_type" and isinstance(held, float) and held.is_integer():
        yield Put(path, int(held))
    elif kind == "tuple_type" and isinstance(held, str) and re.fullmatch(r"[^\s,;]+", held):
        yield Put(path, [held])


def _secrets(file: Written, told: set[int]) -> Iterator[Problem]:
    """Lines with what looks like a key of a provider, comments among them: the file is committed."""
    for number, line in enumerate(file.text.splitlines(), start=1):
        found = [match[0] for match in _SECRET.finditer(line)]
        if number not in told and any(len(each) >= _SECRET_LENGTH and re.search(r"\d", each) for each in found):
            yield Problem(
                "settings",
                "what stands here looks like a key; keys never stand in files",
                file.name,
                number,
                "take it out, make it invalid at its provider, and name a variable: api_key_env",
                "error",
            )


def masked(text: str) -> str:
    """The text without what looks like a key."""
    return _SECRET.sub("<a key>", text)
