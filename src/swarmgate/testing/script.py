r"""Parses the script of a scripted model: rules for which request gets which replies. Pure; YAML, JSON or TOML.

    rules:
      - match: {role: coder, task: "1.1", attempt: "1"}
        replies:
          - tool_calls: [{name: write_file, arguments: {path: a.py, content: "x = 1\n"}}]
          - fault: {kind: "429", times: 2, retry_after: 0.1}
          - tool_calls: [{name: finish, arguments: {summary: "did {{task}}"}}]

The rule with the most keys in `match` wins, of equals the later. Which of its replies is due follows from the number of
assistant messages in the conversation alone, so a client that was killed and asks again gets the same answer; past the
end the last reply repeats. A fault stands in for the reply after it (or for its own `then`): it fires `times` times,
for ever when that is left out, then the reply is given. `wrong_tool` is an answer and takes `times` turns of its own
(default 1). `{{task}}` and any other header of the brief in text and arguments is replaced. Quote task ids in YAML and
TOML: 1.10 without quotes is a number.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from swarmgate.domain.base import Frozen
from swarmgate.errors import UsageError


def _strings(value: Any) -> Any:
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(str(each) if isinstance(each, int | float) and not isinstance(each, bool) else each for each in values)


def _string(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Wanted = Annotated[tuple[str, ...], BeforeValidator(_strings)]
"""One of these; numbers count as the strings they read as."""


class Match(Frozen):
    """The conditions on a request; keys that are left out match anything.

    `contains` is looked for in the first user message, `model` is the request's, the rest are headers of the brief.
    """

    role: Wanted = ()
    step: Wanted = ()
    task: Wanted = ()
    attempt: Wanted = ()
    phase: Wanted = ()
    round: Wanted = ()
    participant: Wanted = ()
    domain: Wanted = ()
    contains: Wanted = ()
    model: Wanted = ()

    def fits(self, headers: Mapping[str, str | list[str]], brief: str, model: str) -> bool:
        """Whether a request with these headers, first user message and model is meant."""
        for key in self.model_fields_set:
            wanted: tuple[str, ...] = getattr(self, key)
            if key == "contains":
                fits = any(each in brief for each in wanted)
            else:
                fits = (model if key == "model" else headers.get(key.upper())) in wanted
            if not fits:
                return False
        return True


class Call(Frozen):
    """A tool call; arguments that are a string go out as they are, valid JSON or not."""

    name: str
    arguments: dict[str, Any] | str = Field(default_factory=dict)
    id: str = ""


class Counts(Frozen):
    """Usage to report instead of a token per 4 characters."""

    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
    cached_tokens: int = Field(0, ge=0)


class Fault(Frozen):
    """A simulated failure: an HTTP error, silence, a broken or unusable answer.

    `retry_after` is sent as the header of that name (seconds, or a date as text), `headers` are further ones, `body` is
    the whole answer, all of an HTTP error; `size` is the length of a huge
    answer.
    """

    kind: Annotated[
        Literal[
            "402",
            "403",
            "429",
            "500",
            "503",
            "529",
            "hang",
            "cut_stream",
            "invalid_json",
            "empty",
            "huge",
            "wrong_tool",
        ],
        BeforeValidator(_string),
    ]
    times: int | None = Field(None, ge=1)
    retry_after: float | str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    body: str | dict[str, Any] | list[Any] = ""
    size: int = Field(2_000_000, ge=1)


class Reply(Frozen):
    """One turn of the model: text, tool calls or both; or a fault with the reply that comes `then`."""

    text: str = ""
    tool_calls: tuple[Call, ...] = ()
    usage: Counts | None = None
    fault: Fault | None = None
    then: Reply | None = None

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        if self.fault and (self.text or self.tool_calls):
            raise ValueError("a fault has no text and no tool_calls; put the reply that follows into `then`")
        if self.then and not self.fault:
            raise ValueError("`then` belongs to a fault")
        if not (self.text or self.tool_calls or self.fault):
            raise ValueError("one of text, tool_calls and fault is needed")
        return self


class Rule(Frozen):
    """One rule: which requests it matches, and the replies turn by turn."""

    match: Match = Match()
    replies: tuple[Reply, ...] = Field(min_length=1)

    @property
    def turns(self) -> tuple[Reply, ...]:
        """The replies by turn: faults joined to what they stand in for, `wrong_tool` as turns of their own."""
        turns: list[Reply] = []
        for reply in reversed(self.replies):
            if reply.fault and reply.fault.kind == "wrong_tool":
                call = Call(name="no_such_tool", arguments={"why": "the script says wrong_tool"})
                wrong = Reply(tool_calls=(call,))
                turns = [*[wrong] * (reply.fault.times or 1), *([reply.then] if reply.then else []), *turns]
            elif reply.fault and not reply.then and turns:
                turns[0] = reply.model_copy(update={"then": turns[0]})
            else:
                turns.insert(0, reply)
        return tuple(turns)


class Script(Frozen):
    """All rules of a scripted model."""

    rules: tuple[Rule, ...]

    @classmethod
    def of(cls, value: Any) -> Script:
        """A script from a `Script`, a file's path, a list of rules or `{"rules": [...]}`.

        Raises:
            UsageError: it is none; the message names rule and key.
        """
        if isinstance(value, Script):
            return value
        if isinstance(value, str | Path):
            return cls.load(Path(value))
        return cls._checked(value, "the script")

    @classmethod
    def load(cls, path: Path) -> Script:
        """The script in a .yaml, .yml, .json or .toml file.

        Raises:
            UsageError: the file cannot be read; the message names line or rule and key.
        """
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} cannot be read: {error}") from error
        return cls._checked(_parsed(path, text), str(path))

    @classmethod
    def _checked(cls, value: Any, where: str) -> Script:
        rules = value if isinstance(value, list | tuple) else None
        try:
            return cls.model_validate({"rules": rules} if rules is not None else value)
        except ValidationError as error:
            raise UsageError(f"{where}: {_problem(error)}") from None

    def choose(self, headers: Mapping[str, str | list[str]], brief: str, model: str) -> int | None:
        """The number of the most specific rule that fits, from 0; None: there is none."""
        fitting = [
            (len(rule.match.model_fields_set), number)
            for number, rule in enumerate(self.rules)
            if rule.match.fits(headers, brief, model)
        ]
        return max(fitting)[1] if fitting else None


def brief_headers(brief: str) -> dict[str, str | list[str]]:
    """The `KEY: value` lines that a brief opens with, up to the first line that is none; FILE is always a list."""
    headers: dict[str, str | list[str]] = {}
    for line in brief.splitlines():
        match = re.fullmatch(r"([A-Z][A-Z_]*):[ \t]*(.*)", line)
        if match is None:
            break
        key, value = match.groups()
        files = headers.get("FILE", [])
        headers[key] = [*files, value] if key == "FILE" else value
    return headers


def filled(text: str, headers: Mapping[str, str | list[str]], *, inside_json: bool = False) -> str:
    """`text` with `{{header}}` replaced by the header's value; names that are no header stay as they are."""

    def value(match: re.Match[str]) -> str:
        found = headers.get(match[1].upper())
        if not isinstance(found, str):
            return match[0]
        return json.dumps(found)[1:-1] if inside_json else found

    return re.sub(r"\{\{\s*([A-Za-z_]+)\s*\}\}", value, text) if "{{" in text else text


def _parsed(path: Path, text: str) -> Any:
    try:
        if path.suffix == ".toml":
            return tomllib.loads(text)
        if path.suffix == ".json":
            return json.loads(text)
    except ValueError as error:
        raise UsageError(f"{path} is not valid {path.suffix[1:].upper()}: {error}") from error
    if path.suffix not in {".yaml", ".yml"}:
        raise UsageError(f"{path}: a script ends in .yaml, .yml, .json or .toml")
    import yaml  # noqa: PLC0415 - late: only for YAML

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"{path} is not valid YAML: {error}") from error


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    loc = first["loc"]
    if loc[:1] != ("rules",) or len(loc) < 2:  # noqa: PLR2004 - ("rules", number, ...)
        return "a script is a list of rules, or a table with the key `rules`"
    key = ".".join(str(part) for part in loc[2:])
    what = "unknown key" if first["type"] == "extra_forbidden" else first["msg"].removeprefix("Value error, ")
    return f"rule {int(loc[1]) + 1}: {f'`{key}`: ' if key else ''}{what}"
