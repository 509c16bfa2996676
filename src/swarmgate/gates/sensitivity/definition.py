"""Loads what counts as security-sensitive: `gates/rules/security_sensitive.toml` and the project's own file."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import translate
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from swarmgate import assets
from swarmgate.config import toml_text
from swarmgate.domain.base import Frozen, Line
from swarmgate.errors import ConfigError
from swarmgate.gates.sensitivity.uses import LANGUAGES
from swarmgate.workspace.files import globs, regular

FILE = "rules/security_sensitive.toml"
"""Below `gates/`, and below a project's `.swarm/gates/`."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OWN = ("paths", "functions", "doubtful_paths", "doubtful_functions", "words")
"""The lists of a kind, whatever the language, and those of a language."""
_LISTS = ("imports", "calls", "methods", "names", "doubtful")


class Patterns(Frozen):
    """What is sensitive in one language; the head of the definition file explains the lists."""

    imports: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()

    def doubts(self, name: str) -> bool:
        """Whether an import or a call counts only where one of the kind's `words` stands beside it."""
        return self._doubted.match(name) is not None

    def imported(self, module: str) -> bool:
        """Whether a module, or something in it, is one of `imports`."""
        return self._modules.match(module) is not None

    def called(self, name: str, *, methods: bool) -> bool:
        """Whether a call is one of `calls`, or of `methods` where the file imports what they belong to."""
        return bool(self._called.match(name) or (methods and self._methods.match(name)))

    def named(self, name: str) -> bool:
        """Whether a name that is no call is one of `names`."""
        return self._named.match(name) is not None

    @cached_property
    def _modules(self) -> re.Pattern[str]:
        return _any(each for name in self.imports for each in (name, f"{name}.*", f"{name}/*"))

    @cached_property
    def _called(self) -> re.Pattern[str]:
        return _any(self.calls)

    @cached_property
    def _methods(self) -> re.Pattern[str]:
        return _any(self.methods)

    @cached_property
    def _doubted(self) -> re.Pattern[str]:
        return _any(self.doubtful)

    @cached_property
    def _named(self) -> re.Pattern[str]:
        return _any(self.names)


class SensitiveKind(Frozen):
    """One kind of sensitive code."""

    id: Line
    title: Line
    paths: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    doubtful_paths: tuple[str, ...] = ()
    doubtful_functions: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    languages: dict[str, Patterns] = Field(default_factory=dict)

    def of(self, language: str) -> Patterns:
        """What is sensitive in a language, as `gates.project.files` names it."""
        return self.languages.get("javascript" if language == "typescript" else language, _NOTHING)

    def at(self, path: str) -> str:
        """The glob that makes a path sensitive; empty for none."""
        spellings = _spellings(path)
        for glob in self.paths:
            if any(globs.matches(each, glob) for each in spellings):
                matching = (one for one in _alternatives(glob) if any(globs.matches(each, one) for each in spellings))
                return next(matching, glob)
        return ""

    def doubts_path(self, path: str) -> bool:
        """Whether a path counts only where the file says one of `words`."""
        return any(globs.matches(each, glob) for each in _spellings(path) for glob in self.doubtful_paths)

    def doubts_function(self, function: str) -> bool:
        """Whether a function counts only where one of `words` stands in it."""
        return any(self._doubted.match(each) for each in _spellings(function))

    def settled(self, words: Iterable[str]) -> bool:
        """Whether what stands around something doubtful holds one of `words`."""
        return any(self._telling.match(each) for word in words for each in _spellings(word))

    def defined(self, function: str) -> bool:
        """Whether a function of this name is sensitive in any language."""
        return any(self._defined.match(each) for each in _spellings(function))

    @cached_property
    def _defined(self) -> re.Pattern[str]:
        return _any(self.functions)

    @cached_property
    def _doubted(self) -> re.Pattern[str]:
        return _any(self.doubtful_functions)

    @cached_property
    def _telling(self) -> re.Pattern[str]:
        return _any(self.words)


class Sensitivity(Frozen):
    """Every kind of sensitive code, and the globs of files that never count."""

    kinds: tuple[SensitiveKind, ...]
    excepted: tuple[str, ...] = ()


_NOTHING = Patterns()


def load(project_dir: Path | None = None) -> Sensitivity:
    """The built-in definition with what the project's own file adds to it.

    Args:
        project_dir: the root of the repository, whose file stands below `.swarm/gates/`; None for the built-in alone.

    Raises:
        ConfigError: a file cannot be read, or a key is unknown or wrong; the message names both.
    """
    built_in = _built_in()
    own = project_dir / ".swarm" / "gates" / FILE if project_dir else None
    return _joined(built_in, _read(own, f".swarm/gates/{FILE}")) if own and own.exists() else built_in


@functools.cache
def _built_in() -> Sensitivity:
    """The definition that comes with swarmgate: the same for the life of a process."""
    return _read(assets.gates() / FILE, f"gates/{FILE}")


def _read(path: Path, label: str) -> Sensitivity:
    try:
        raw = toml_text.loads(regular.text(path))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{label} cannot be read: {error}") from error
    return parsed(raw, label)


def parsed(raw: Mapping[str, Any], label: str) -> Sensitivity:
    """A definition from its TOML; `label` is the file's name in messages.

    Raises:
        ConfigError: a key is unknown or wrong.
    """
    if unknown := set(raw) - {"kind", "except"}:
        raise ConfigError(f"{label}: unknown key `{min(unknown)}`; known: kind, except")
    kinds = raw.get("kind", [])
    if not isinstance(kinds, list) or not all(isinstance(kind, dict) for kind in kinds):
        raise ConfigError(f"{label}: `kind` must be tables: [[kind]]")
    try:
        made = [SensitiveKind.model_validate(_sorted_out(kind)) for kind in kinds]
        return Sensitivity(kinds=tuple(made), excepted=tuple(raw.get("except", ())))
    except (ValidationError, TypeError) as error:
        raise ConfigError(
            f"{label}: {_explained(error)}", hint="Every key: swarm docs guards#security-review"
        ) from None


def _sorted_out(kind: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of languages apart from the other keys; `title` may be left out."""
    languages = {key: value for key, value in kind.items() if key in LANGUAGES}
    rest = {key: value for key, value in kind.items() if key not in LANGUAGES}
    return {"title": rest.get("id", ""), **rest, "languages": languages}


def _explained(error: ValidationError | TypeError) -> str:
    if isinstance(error, TypeError):
        return "`except` must be a list of globs"
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"] if part != "languages")
    if first["type"] == "extra_forbidden":
        languages = f"and for {', '.join(LANGUAGES)}: {', '.join(_LISTS)}"
        return f"unknown key `{key}` of a kind; known: id, title, {', '.join(_OWN)}, {languages}"
    return f"`{key}` of a kind: {first['msg']}"


def _joined(ours: Sensitivity, own: Sensitivity) -> Sensitivity:
    kinds = {kind.id: kind for kind in ours.kinds}
    for kind in own.kinds:
        kinds[kind.id] = _added(kinds[kind.id], kind) if kind.id in kinds else kind
    return Sensitivity(kinds=tuple(kinds.values()), excepted=(*ours.excepted, *own.excepted))


def _added(ours: SensitiveKind, own: SensitiveKind) -> SensitiveKind:
    languages = dict(ours.languages)
    for name, patterns in own.languages.items():
        before = languages.get(name, _NOTHING)
        languages[name] = Patterns(**{key: (*getattr(before, key), *getattr(patterns, key)) for key in _LISTS})
    more = {key: (*getattr(ours, key), *getattr(own, key)) for key in _OWN}
    return ours.model_copy(update={**more, "languages": languages})


def _alternatives(glob: str) -> list[str]:
    """`{a,b}/**` as `a/**` and `b/**`: the one that matches is what a reader is told."""
    found = re.search(r"\{([^{}]*)\}", glob)
    if found is None:
        return [glob]
    head, tail = glob[: found.start()], glob[found.end() :]
    return [each for choice in found[1].split(",") for each in _alternatives(head + choice + tail)]


def _spellings(name: str) -> set[str]:
    return {name.lower(), _CAMEL.sub("_", name).lower()}


def _any(patterns: Iterable[str]) -> re.Pattern[str]:
    """One expression for all patterns; `*` matches anything, dots too."""
    escaped: Sequence[str] = [translate(_literal(pattern)) for pattern in patterns]
    return re.compile("|".join(escaped) or r"(?!)")


def _literal(pattern: str) -> str:
    return re.sub(r"[\[?]", lambda found: f"[{found[0]}]", pattern)
