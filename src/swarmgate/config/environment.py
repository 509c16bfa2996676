"""Reads the settings that `SWARM_*` environment variables hold; what names no setting may be another program's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from swarmgate.config.base import nearest
from swarmgate.config.sections import PREFIX, Config
from swarmgate.config.setting_errors import Source
from swarmgate.errors import ConfigError


def key_variables(sources: Iterable[Source]) -> set[str]:
    """The variables that `api_key_env` of any provider names, also where a setting beside it is wrong."""
    tables = (each.values.get("providers") for each in sources)
    providers = (one for table in tables if isinstance(table, Mapping) for one in table.values())
    names = (one.get("api_key_env") for one in providers if isinstance(one, Mapping))
    return {name for name in names if isinstance(name, str)}


def read(environ: Mapping[str, str], keys: Collection[str]) -> Iterator[Source]:
    """One source a variable that names a setting, so that a refusal can name it.

    Args:
        environ: the variables.
        keys: names of variables that hold keys of providers; they are not looked at, nor are those that the variables
            of `[providers]` name themselves.

    Raises:
        ConfigError: a value that has to be JSON is none.
    """
    names = sorted(each for each in environ if each.startswith(PREFIX) and each not in keys and not unknown(each))
    if not names:
        return  # and pydantic_settings, 0.1 s to import, stays out
    from pydantic_settings import EnvSettingsSource, SettingsError  # noqa: PLC0415 - late, see above

    class Variable(EnvSettingsSource):
        """Reads `environ[name]` alone instead of `os.environ`."""

        name: str = ""

        def _load_env_vars(self) -> Mapping[str, str | None]:
            return {self.name.lower(): environ[self.name]}

    named: set[str] = set()
    for name in sorted(names, key=lambda each: _parts(each)[0] != "providers"):  # those say what else holds a key
        if name in named:
            continue
        reader = type("Reader", (Variable,), {"name": name})
        try:
            values = reader(Config, env_prefix=PREFIX, env_nested_delimiter="__")()
        except SettingsError as error:
            raise ConfigError(f'environment variable {name} must hold JSON, such as \'["a", "b"]\'') from error
        source = Source(f"environment variable {name}", values)
        named |= key_variables([source])
        yield source


def unknown_variables(environ: Mapping[str, str], keys: Collection[str]) -> dict[str, str]:
    """The variables that begin like settings and are none, each with a sentence that names the nearest setting."""
    names = (name for name in sorted(environ) if name.startswith(PREFIX) and name not in keys)
    return {name: sentence for name in names if (sentence := unknown(name))}


def unknown(name: str) -> str:
    """Why a variable names no setting, whatever its value; empty where it names one, or a table of them."""
    parts = _parts(name)
    kind: Any = Config
    for at, part in enumerate(parts):
        known = _names(kind)
        if known is not None and part not in known:
            close = nearest(part, known)
            meant = PREFIX + "__".join([*parts[:at], close or "", *parts[at + 1 :]]).upper()
            return f"environment variable {name} is no setting and is ignored" + (
                f"; did you mean {meant}?" if close else ""
            )
        kind = _below(kind, part)
    return ""


def _parts(name: str) -> list[str]:
    return name.removeprefix(PREFIX).lower().split("__")


def _names(kind: Any) -> Collection[str] | None:
    """The keys that a table has; None where any name may stand."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return tuple(kind.model_fields)
    if get_origin(kind) is not dict:
        return ()  # no table
    name = get_args(kind)[0]
    return get_args(name) if get_origin(name) is Literal else None


def _below(kind: Any, part: str) -> Any:
    return get_args(kind)[1] if get_origin(kind) is dict else kind.model_fields[part].annotation
