"""Loads settings from files, environment and flags, and merges them into one `Config`."""

from __future__ import annotations

import json
import os
import tomllib
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from swarmgate.config import environment, toml_text
from swarmgate.config.sections import Config
from swarmgate.config.setting_errors import Source, check_providers, line_of, setting_error
from swarmgate.errors import ConfigError, UnknownVariable

if TYPE_CHECKING:
    from pathlib import Path


def load(
    *,
    user_file: Path | None = None,
    project_file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Config:
    """Merge all sources into one frozen `Config`.

    Args:
        user_file: default `config.toml` in the platform's settings folder for swarmgate; may be missing.
        project_file: the project's `.swarm/config.toml`; may be missing, None outside a project.
        environ: default `os.environ`. Tables nest with `__`: `SWARM_BUDGET__USD=3`; lists are JSON.
        flags: nested as the tables are; None values mean "not given".

    Raises:
        ConfigError: a source cannot be read, a key is unknown or a value breaks a limit.

    Warns:
        UnknownVariable: a `SWARM_*` variable names no setting, and none of `api_key_env` names it.
    """
    environ = os.environ if environ is None else environ
    sources = [
        *read_sources(user_file, project_file, environ),
        Source("the command line", _given(flags or {})),
    ]
    try:
        config = Config.model_validate(merged(sources))
    except ValidationError as error:
        raise setting_error(error.errors(include_url=False, include_input=False)[0], sources).error from None
    for source in sources:
        if source.text:
            _require_types(source)
    check_providers(config, sources)
    for sentence in environment.unknown_variables(environ, environment.key_variables(sources)).values():
        warnings.warn(sentence, UnknownVariable, stacklevel=2)
    return config


def read_sources(user_file: Path | None, project_file: Path | None, environ: Mapping[str, str]) -> list[Source]:
    """The files and the variables, weakest first, for the arguments of `load`.

    Raises:
        ConfigError: one of them cannot be read, or is no setting.
    """
    if user_file is None:
        from platformdirs import user_config_path  # noqa: PLC0415 - late: only the edge needs it

        user_file = user_config_path("swarmgate") / "config.toml"
    files = [_file(path) for path in (user_file, project_file) if path is not None]
    if project_file is not None and "server" in files[-1].values:
        raise _not_a_projects(files[-1], user_file)
    return [*files, *environment.read(environ, environment.key_variables(files))]


def _not_a_projects(source: Source, user_file: Path) -> ConfigError:
    """A repository that a server works on must not say who may ask that server, and how much."""
    table = source.values["server"]
    first = next(iter(table), "") if isinstance(table, Mapping) else ""
    line = line_of(source.text, ("server", first))
    return ConfigError(
        f"{source.name}, line {line}: `server`: the settings of the team server do not belong into a project",
        hint=f"move [server] to your own file, {user_file}, or set SWARM_SERVER__* or flags of `swarm serve`",
    )


def merged(sources: Iterable[Source]) -> dict[str, Any]:
    """What all of them say together."""
    values: dict[str, Any] = {}
    for source in sources:
        values = _merge(values, source.values)
    return values


_TYPES = {
    "bool_type": "must be true or false, without quotes",
    "int_type": "must be a whole number, without quotes",
    "float_type": "must be a number, without quotes",
}
"""What a file has to write where a variable, which is text, is read as what it says."""


def _require_types(source: Source) -> None:
    """TOML has types of its own: a file that writes `"no"` or `1` where true or false belongs means something else.

    Raises:
        ConfigError: it does.
    """
    try:
        Config.model_validate_json(json.dumps(source.values, default=str), strict=True)
    except ValidationError as error:
        for found in error.errors(include_url=False, include_input=False):
            if found["type"] in _TYPES:
                raise setting_error({**found, "msg": _TYPES[found["type"]]}, [source]).error from None


def _file(path: Path) -> Source:
    try:
        require_file(path)
        text = path.read_text(encoding="utf-8-sig")
        return Source(str(path), toml_text.loads(text), text)
    except FileNotFoundError:
        return Source(str(path), {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}", hint="mend that line, then try again") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text (byte {error.start})", hint="save it as UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error


def require_file(path: Path) -> None:
    """Makes sure that it is a file, or that nothing is there.

    Raises:
        ConfigError: it is something else, which might be waited for, or a symbolic link that leads nowhere.
    """
    if path.is_file():
        return
    if path.exists():
        raise ConfigError(f"{path} is not a regular file")
    if path.is_symlink():
        message = f"{path} is a symbolic link to {path.readlink()}, and no file is there"
        raise ConfigError(message, hint="make that file, or replace the link by one")


def _given(flags: Mapping[str, Any]) -> dict[str, Any]:
    tables = {key: _given(value) if isinstance(value, Mapping) else value for key, value in flags.items()}
    return {key: value for key, value in tables.items() if value is not None}


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Tables merge key by key; any other value of `above` replaces the one below."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged
