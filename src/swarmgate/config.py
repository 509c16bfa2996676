"""The settings: merged once at the edge, frozen, passed down.

Later wins: built-in defaults < user file < `.swarm/config.toml` < `SWARM_*` environment < flags. Whatever the sources
say must then hold against the hard limits that stand in the fields below. Every refusal is a `ConfigError` that names
the source (file and line, variable, flags), the key and, for an unknown key, the nearest known one. Values are never
echoed: one of them could be a key pasted by mistake.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from swarmgate.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic_core import ErrorDetails

PREFIX = "SWARM_"
"""What the name of every environment variable that is a setting begins with."""

RESERVED: frozenset[str] = frozenset()
"""`SWARM_*` variables that are not settings; every other one must name a known key."""

PROJECT_FILE = ".swarm/config.toml"
"""Where the settings of a project stand, relative to its root."""

_KEY_SHAPES = re.compile(
    r"(sk-|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|gsk_|hf_|Bearer )[A-Za-z0-9_\-]{4,}"
)


def _variable_name(value: str) -> str:
    if _KEY_SHAPES.match(value) or (value and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value)):
        raise ValueError(
            "must be the NAME of an environment variable; if this is the key itself, take it out of the file, "
            "put it into a variable such as MY_KEY and write MY_KEY here"
        )
    return value


def _no_key(value: str) -> str:
    if _KEY_SHAPES.search(value):
        raise ValueError("looks like a key; keys never stand in files, use api_key_env")
    return value


def _url(value: str) -> str:
    try:
        parts = urlsplit(value)
        valid = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or True)
    except ValueError:
        valid = False
    if not valid or re.search(r"\s", value):
        raise ValueError('must be an http or https address, such as "http://127.0.0.1:8899/v1"')
    if parts.username or parts.password:
        raise ValueError("must not carry a user name or password; keys never stand in files, use api_key_env")
    return value.rstrip("/")


def _model_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*/\S+", value):
        raise ValueError('must read "provider/model"')
    return value


def _count_pattern(value: str) -> str:
    try:
        groups = re.compile(value).groups
    except re.error as error:
        raise ValueError(f"must be a regular expression: {error}") from error
    if value and not groups:
        raise ValueError("must have a group around the number of tests, such as `(\\d+) tests`")
    return value


def _branch_prefix(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_./-]*", value) or re.search(r"\.\.|//|/\.|\.lock/|\.$", value):
        raise ValueError('must be the beginning of a git branch name, such as "swarm/"')
    return value


Seconds = Annotated[float, Field(ge=1, le=86_400)]
ProviderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
ModelName = Annotated[str, AfterValidator(_model_name)]
RoleName = Literal["default", "architect", "critic", "coder", "reviewer", "test_engineer", "sme"]


class Section(BaseModel):
    """A table of the configuration: frozen, closed, finite numbers only."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Provider(Section):
    """`[providers.NAME]`: an OpenAI-compatible endpoint."""

    base_url: Annotated[str, AfterValidator(_url)] = Field(description="Address up to and including `/v1`.")
    api_key_env: Annotated[str, AfterValidator(_variable_name)] = Field(
        "", description="Name of the environment variable that holds the key; empty: the endpoint needs none."
    )
    headers: dict[str, Annotated[str, AfterValidator(_no_key)]] = Field(
        default_factory=dict, description="Further HTTP headers of each request; never a key."
    )
    tools: bool = Field(True, description="False: the models cannot call tools and are served by JSON in text.")
    stream: bool = Field(True, description="Ask for streamed answers.")
    timeout_s: Seconds = Field(300, description="Longest time of one model call, in seconds.")
    max_retries: int = Field(5, ge=0, le=20, description="How often a failed call is tried again before the fallback.")


class Role(Section):
    """`[roles.NAME]`: which model speaks as this role."""

    model: ModelName = Field(description="`provider/model`; the model's own name may contain slashes.")
    fallback: tuple[ModelName, ...] = Field((), description="Models asked in this order when the first has failed.")
    temperature: float | None = Field(None, ge=0, le=2, description="Sampling temperature; unset: the endpoint's own.")
    max_tokens: int | None = Field(None, ge=1, le=10_000_000, description="Longest answer in tokens; unset: no limit.")
    timeout_s: Seconds | None = Field(None, description="Longest time of one call; unset: the provider's.")
    tools: bool | None = Field(None, description="Whether the model can call tools; unset: as the provider says.")


class BudgetLimits(Section):
    """`[budget]`: what a project may use up; checked before each model call."""

    usd: float | None = Field(None, ge=0, description="US dollars; unset: no limit.")
    tokens: int | None = Field(None, ge=0, description="Prompt and completion tokens; unset: no limit.")


class Price(Section):
    """`[prices."provider/model"]`: US dollars per million tokens."""

    input: float = Field(ge=0, description="Prompt tokens.")
    output: float = Field(ge=0, description="Completion tokens.")
    cached: float | None = Field(None, ge=0, description="Cached prompt tokens; unset: the input price.")


class Suite(Section):
    """`[tests]`: how the project's tests are run."""

    command: str = Field("", description="The test command; empty: detected.")
    timeout_s: Seconds = Field(600, description="Longest time of one run of the suite, in seconds.")
    count_pattern: Annotated[str, AfterValidator(_count_pattern)] = Field(
        "", description="Regular expression with a group around the number of tests that ran; empty: detected."
    )
    paths: tuple[str, ...] = Field((), description="Globs of the files that are tests; empty: detected.")


class Project(Section):
    """`[project]`: what the project is."""

    name: str = Field("", description="Name in messages; empty: the folder's.")
    languages: tuple[str, ...] = Field((), description="Languages of the project; empty: detected.")


class Loop(Section):
    """`[loop]`: the bounds of the work on one task."""

    max_rejections: int = Field(2, ge=1, le=5, description="Rejected attempts before the architect takes over.")
    critic_rounds: int = Field(2, ge=1, le=5, description="Rounds in which the critic may object to the plan.")
    replies: int = Field(3, ge=1, le=10, description="How often an unusable reply is sent back to the model.")
    max_turns: int = Field(80, ge=1, le=1000, description="Model calls in one agent's turn.")


class Gates(Section):
    """`[gates]`: the quality gates."""

    skip: tuple[str, ...] = Field((), description="Names of gates that are not run.")
    timeout_s: Seconds | None = Field(None, description="Longest time of one gate; unset: as its definition says.")


class Commands(Section):
    """`[commands]`: what agents run themselves."""

    timeout_s: Seconds = Field(120, description="Longest time of one `run_command`, in seconds.")


class Git(Section):
    """`[git]`: how work is committed."""

    branch_prefix: Annotated[str, AfterValidator(_branch_prefix)] = Field(
        "swarm/", description="Beginning of the branch that work happens on."
    )


class Config(Section):
    """All settings of one run."""

    providers: dict[ProviderName, Provider] = Field(default_factory=dict, description="Endpoints by name.")
    roles: dict[RoleName, Role] = Field(default_factory=dict, description="Models by role; `default` serves the rest.")
    budget: BudgetLimits = Field(default_factory=BudgetLimits, description="What may be used up.")
    prices: dict[str, Price] = Field(default_factory=dict, description='By "provider/model", or by "model" alone.')
    tests: Suite = Field(default_factory=Suite, description="How tests are run.")
    project: Project = Field(default_factory=Project, description="What the project is.")
    loop: Loop = Field(default_factory=Loop, description="Bounds of the work on one task.")
    gates: Gates = Field(default_factory=Gates, description="The quality gates.")
    commands: Commands = Field(default_factory=Commands, description="What agents run themselves.")
    git: Git = Field(default_factory=Git, description="How work is committed.")

    def role(self, name: str) -> Role:
        """The settings of a role, or those of `roles.default`.

        Raises:
            ConfigError: neither is set; the hint is the snippet to add.
        """
        for key, role in self.roles.items():
            if key == name:
                return role
        if "default" in self.roles:
            return self.roles["default"]
        provider = next(iter(self.providers), "local")
        endpoint = "" if self.providers else f'[providers.{provider}]\nbase_url = "http://127.0.0.1:8899/v1"\n'
        raise ConfigError(
            f"no model is set for the role `{name}`",
            hint=f'add to {PROJECT_FILE}:\n{endpoint}[roles.default]\nmodel = "{provider}/NAME-OF-A-MODEL"',
        )

    def provider(self, model: str) -> tuple[Provider, str]:
        """The endpoint of a `provider/model` and the model's name there.

        Raises:
            ConfigError: no such provider.
        """
        name, _, served = model.partition("/")
        if name not in self.providers:
            raise ConfigError(_unknown_provider(name, self.providers), hint=f"add [providers.{name}] to {PROJECT_FILE}")
        return self.providers[name], served


@dataclass(frozen=True, slots=True)
class _Source:
    """One layer of settings: `name` is what a user is told, `text` the TOML for finding line numbers."""

    name: str
    values: dict[str, Any]
    text: str = ""


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
    """
    if user_file is None:
        from platformdirs import user_config_path  # noqa: PLC0415 - late: only the edge needs it

        user_file = user_config_path("swarmgate") / "config.toml"
    files = [_file(path) for path in (user_file, project_file) if path is not None]
    variables = _environment(os.environ if environ is None else environ)
    sources = [*files, *variables, _Source("the command line", _given(flags or {}))]
    merged: dict[str, Any] = {}
    for source in sources:
        merged = _merge(merged, source.values)
    try:
        config = Config.model_validate(merged)
    except ValidationError as error:
        raise _refusal(error.errors(include_url=False, include_input=False)[0], sources) from None
    _check_providers(config, sources)
    return config


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was most likely meant to be; None when nothing comes close."""
    close = difflib.get_close_matches(name.lower(), {each.lower(): each for each in known}, n=1, cutoff=0.6)
    return next((each for each in known if close and each.lower() == close[0]), None)


def _file(path: Path) -> _Source:
    try:
        text = path.read_text(encoding="utf-8-sig")
        return _Source(str(path), tomllib.loads(text), text)
    except FileNotFoundError:
        return _Source(str(path), {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}", hint="mend that line, then try again") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text (byte {error.start})", hint="save it as UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error


def _environment(environ: Mapping[str, str]) -> list[_Source]:
    """One source a variable, so that a refusal can name it."""
    names = sorted(name for name in environ if name.startswith(PREFIX) and name not in RESERVED)
    if not names:
        return []  # and pydantic_settings, 0.1 s to import, stays out
    from pydantic_settings import EnvSettingsSource, SettingsError  # noqa: PLC0415 - late, see above

    class Variable(EnvSettingsSource):
        """Reads `environ[name]` alone instead of `os.environ`."""

        name: str = ""

        def _load_env_vars(self) -> Mapping[str, str | None]:
            return {self.name.lower(): environ[self.name]}

    sources = []
    for name in names:
        section = name.removeprefix(PREFIX).partition("__")[0].lower()
        if section not in Config.model_fields:
            raise ConfigError(f"environment variable {name}: {_unknown(section, Config.model_fields)}")
        reader = type("Reader", (Variable,), {"name": name})
        try:
            values = reader(Config, env_prefix=PREFIX, env_nested_delimiter="__")()
        except SettingsError as error:
            raise ConfigError(f'environment variable {name} must hold JSON, such as \'["a", "b"]\'') from error
        sources.append(_Source(f"environment variable {name}", values))
    return sources


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


def _unknown(key: str, known: Iterable[str]) -> str:
    names = list(known)
    close = nearest(key, names)
    return f"unknown key `{key}`; " + (f"did you mean `{close}`?" if close else f"known here: {', '.join(names)}")


def _unknown_provider(name: str, known: Iterable[str]) -> str:
    return f"unknown provider `{name}`; known: {', '.join(known) or 'none'}"


def _refusal(error: ErrorDetails, sources: list[_Source]) -> ConfigError:
    """A validation error as a sentence: where, which key, what is wrong."""
    path = tuple(str(part) for part in error["loc"] if part != "[key]")
    *tables, key = path
    if error["type"] == "extra_forbidden" or error["loc"][-1] == "[key]":
        known = _known_keys(tables)
        what = (
            _unknown(key, known) if known else f"`{key}` cannot be a name here: letters, digits, `.`, `_` and `-` only"
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


def _located(path: tuple[str, ...], what: str, sources: list[_Source]) -> ConfigError:
    """Blames the last source that says anything about `path`."""
    source = next((each for each in reversed(sources) if _holds(each.values, path)), None)
    key = ".".join(path)
    if source is None:
        return ConfigError(f"`{key}`: {what}")
    line = _line_of(source.text, path)
    return ConfigError(f"{source.name}{f', line {line}' if line else ''}: `{key}`: {what}")


def _holds(values: Any, path: tuple[str, ...]) -> bool:
    for part in path:
        if isinstance(values, Mapping) and part in values:
            values = values[part]
        elif isinstance(values, list) and part.isdigit() and int(part) < len(values):
            values = values[int(part)]
        else:
            return False
    return True


def _known_keys(tables: Iterable[str]) -> tuple[str, ...]:
    """The keys that may stand in a table of `Config`; empty when any name may."""
    kind: Any = Config
    for table in tables:
        kind = get_args(kind)[1] if get_origin(kind) is dict else kind.model_fields[table].annotation
    if get_origin(kind) is not dict:
        return tuple(kind.model_fields)
    name = get_args(kind)[0]
    return get_args(name) if get_origin(name) is Literal else ()


def _line_of(text: str, path: tuple[str, ...]) -> int:
    """The line of the longest prefix of `path` that the TOML text writes out; 0 when it writes none.

    Reads tables and keys only, one a line: enough to lead a reader to the place.
    """
    best, depth = 0, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if match := re.match(r"\s*\[+([^\]]+)\]", line):
            here = table = _dotted(match[1])
        elif match := re.match(r"""\s*((?:"[^"]*"|'[^']*'|[\w.\s-])+?)\s*=""", line):
            here = (*table, *_dotted(match[1]))
        else:
            continue
        if len(here) > depth and path[: len(here)] == here:
            best, depth = number, len(here)
    return best


def _dotted(key: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(r""""[^"]*"|'[^']*'|[\w-]+""", key))


def _check_providers(config: Config, sources: list[_Source]) -> None:
    for name, role in config.roles.items():
        models = {("model",): role.model} | {("fallback", str(at)): model for at, model in enumerate(role.fallback)}
        for where, model in models.items():
            provider = model.partition("/")[0]
            if provider not in config.providers:
                raise _located(("roles", name, *where), _unknown_provider(provider, config.providers), sources)
