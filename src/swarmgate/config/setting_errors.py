"""Formats errors in settings: the place (file and line, variable or flag), the key, and what is wrong with it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from swarmgate.config.base import KEY_SHAPES, is_program, nearest
from swarmgate.config.sections import Config, unknown_provider
from swarmgate.errors import ConfigError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_LONG_TEXTS = re.compile(r'"""[\s\S]*?"""|' + r"'''[\s\S]*?'''")
SECRET_WORDS = r"(?:api[_-]?key|secret|passw(?:or)?d|token(?!s)|authorization|credential)"  # noqa: S105 - a pattern
"""What the names of keys that hold secrets have in them; `tokens` are counted, and no secret."""
_NAME_OF_VARIABLE = re.compile(r"\$?\{?[A-Z][A-Z0-9]*(_[A-Z0-9]+)+\}?")
NOTHING: Any = object()
"""What stands at a path where nothing does: any value that TOML has could stand there."""
KEY_IN_FILE = "a key seems to stand here, and keys never stand in files"
KEY_HINT = "take it out, make it invalid at its provider, and name a variable that holds a new one: api_key_env"


@dataclass(frozen=True, slots=True)
class Source:
    """One layer of settings: `name` is printed to the user, `text` is the TOML for finding line numbers."""

    name: str
    values: dict[str, Any]
    text: str = ""


def unknown(key: str, known: Iterable[str]) -> str:
    """A sentence about a key that does not exist, with the nearest one that does."""
    names = list(known)
    close = nearest(key, names)
    return f"unknown key `{key}`; " + (f"did you mean `{close}`?" if close else f"known here: {', '.join(names)}")


@dataclass(frozen=True, slots=True)
class SettingError:
    """What is wrong with one key: the last source that sets it and the line there (empty and 0: none), and a hint."""

    where: str
    line: int
    message: str
    hint: str = ""

    @property
    def error(self) -> ConfigError:
        """It as an error, with its place first."""
        place = f"{self.where}{f', line {self.line}' if self.line else ''}: " if self.where else ""
        return ConfigError(f"{place}{self.message}", hint=self.hint)


def setting_error(error: ErrorDetails, sources: list[Source]) -> SettingError:
    """A validation error as a sentence: where, which key, what is wrong."""
    path = tuple(str(part) for part in error["loc"] if part != "[key]")
    *tables, key = path
    if error["type"] == "extra_forbidden" and any(holds_secret(key, at(each.values, path)) for each in sources):
        return _located(path, KEY_IN_FILE, sources, KEY_HINT)
    if error["type"] == "extra_forbidden" or error["loc"][-1] == "[key]":
        known = known_keys(tables)
        what = (
            unknown(key, known) if known else f"`{key}` cannot be a name here: letters, digits, `.`, `_` and `-` only"
        )
    elif error["type"] == "missing":
        path, what = tuple(tables), f"the key `{key}` is missing"
    elif error["type"] in {"model_type", "dict_type"}:
        what = f"must be a table, [{'.'.join(path)}]"
    else:
        what = re.sub(r"^(Input|String|Tuple) should", "must", error["msg"].removeprefix("Value error, ")).replace(
            "valid tuple", "list"
        )
    return _located(path, what, sources)


def holds_secret(name: str, value: Any) -> bool:
    """Whether an unknown key holds a secret, by its name or its value; the name of a variable is none."""
    if KEY_SHAPES.search(str(value)):
        return True
    named = re.search(SECRET_WORDS, name, re.IGNORECASE) and not re.fullmatch(r"(?i)api_?-?key_?-?\w{3}", name)
    plain = isinstance(value, str) and re.search(r"[^\d\s.,_]", value) and not _NAME_OF_VARIABLE.fullmatch(value)
    return bool(named and plain)


def _located(path: tuple[str, ...], what: str, sources: list[Source], hint: str = "") -> SettingError:
    """Blames the last source that says anything about `path`."""
    source = next((each for each in reversed(sources) if at(each.values, path) is not NOTHING), None)
    message = f"`{'.'.join(path)}`: {what}"
    return (
        SettingError(source.name, line_of(source.text, path), message, hint)
        if source
        else SettingError("", 0, message, hint)
    )


def at(values: Any, path: tuple[str, ...]) -> Any:
    """What stands at a path of nested tables and lists; `NOTHING` where nothing does."""
    for part in path:
        if isinstance(values, Mapping) and part in values:
            values = values[part]
        elif isinstance(values, list) and part.isdigit() and int(part) < len(values):
            values = values[int(part)]
        else:
            return NOTHING
    return values


def known_keys(tables: Iterable[str]) -> tuple[str, ...]:
    """The keys that may stand in a table of `Config`; empty when any name may, or there is no such table."""
    kind: Any = Config
    for table in tables:
        if get_origin(kind) is tuple:  # `table` is the place in a list of tables
            kind = get_args(kind)[0]
        else:
            kind = get_args(kind)[1] if get_origin(kind) is dict else kind.model_fields[table].annotation
    if get_origin(kind) is not dict:
        return tuple(kind.model_fields)
    name = get_args(kind)[0]
    return get_args(name) if get_origin(name) is Literal else ()


def line_of(text: str, path: tuple[str, ...]) -> int:
    """The line of the longest prefix of `path` that the TOML text writes out; 0 when it writes none.

    Reads tables and keys only, one a line: enough to lead a reader to the place.
    """
    best, depth = 0, 0
    table: tuple[str, ...] = ()
    plain = _LONG_TEXTS.sub(lambda match: "''" + "\n" * match[0].count("\n"), text)
    seen: Counter[tuple[str, ...]] = Counter()
    for number, line in enumerate(plain.splitlines(), start=1):
        if match := re.match(r"\s*(\[+)([^\]]+)\]", line):
            name = _dotted(match[2])
            here = table = name if match[1] == "[" else (*name, str(seen[name]))
            seen[name] += 1
        elif match := re.match(r"""\s*((?:"[^"]*"|'[^']*'|[\w.\s-])+?)\s*=""", line):
            here = (*table, *_dotted(match[1]))
        else:
            continue
        if len(here) > depth and path[: len(here)] == here:
            best, depth = number, len(here)
    return best


def _dotted(key: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(r""""[^"]*"|'[^']*'|[\w-]+""", key))


def check_providers(config: Config, sources: list[Source]) -> None:
    """Whether every model's provider is configured.

    Raises:
        ConfigError: one is not; the message says where the model stands.
    """
    named: dict[tuple[str, ...], str] = {}
    for name, role in config.roles.items():
        named["roles", name, "model"] = role.model
        named.update({("roles", name, "fallback", str(at)): model for at, model in enumerate(role.fallback)})
    named.update({("agents", name, "model"): agent.model for name, agent in config.agents.items() if agent.model})
    named.update({("models", "tiers", name): model for name, model in config.models.tiers.items()})
    named.update({("review", "plan_seats", str(at)): model for at, model in config.review.seat_models.items()})
    named.update({("phase", "models", str(at)): model for at, model in enumerate(config.phase.models)})
    for where, model in named.items():
        provider = model.partition("/")[0]
        if not is_program(model) and provider not in config.providers:
            raise _located(where, unknown_provider(provider, config.providers), sources).error
