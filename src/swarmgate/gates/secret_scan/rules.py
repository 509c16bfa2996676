"""Loads the rules of gates/rules/secrets.toml and matches them with RE2, in linear time.

Patterns run over bytes as Latin-1: an offset is a byte, and a name in any script is no error.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import re2  # type: ignore[import-untyped]  # RE2 ships no stubs

from swarmgate import assets
from swarmgate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_KEYS = {"id", "title", "cwe", "keywords", "pattern", "min_entropy", "allow", "files", "where", "check"}


class Pattern:
    """A pattern for bytes, compiled when a text is first searched for it: most texts hold no keyword of most rules."""

    def __init__(self, text: str) -> None:
        self.text = text

    @functools.cached_property
    def re(self) -> Any:
        """RE2's own object, which has no stubs.

        Raises:
            re2.error: the text is no pattern.
        """
        return re2.compile(self.text.encode("latin-1"), _options())

    @functools.cached_property
    def groups(self) -> Mapping[str, int]:
        """The numbers of the named groups."""
        return {name.decode("latin-1"): number for name, number in self.re.groupindex.items()}

    def group(self, name: str) -> int:
        """The number of a named group; 0, the whole match, where there is none."""
        return self.groups.get(name, 0)


@dataclass(frozen=True, slots=True)
class Rule:
    """A format that speaks for itself; the keys are explained at the head of the rule file.

    `allow` is None when the rule names none.
    """

    id: str
    title: str
    cwe: str
    pattern: Pattern
    min_entropy: float
    allow: Pattern | None
    files: tuple[str, ...]
    block: bool
    check: str

    def applies_to(self, path: str) -> bool:
        """Whether the rule is for a file of this name."""
        name = path.rsplit("/", 1)[-1].lower()
        return not self.files or any(fnmatchcase(name, pattern) for pattern in self.files)


@dataclass(frozen=True, slots=True)
class Assignment:
    """A name that tells of a secret, up to where its value begins."""

    id: str
    title: str
    pattern: Pattern


class RuleSet:
    """All rules, and one automaton over their keywords that says which of them a text can match at all."""

    def __init__(self, rules: Sequence[tuple[Rule, Sequence[str]]], assignments: Sequence[Assignment]) -> None:
        self.assignments = tuple(assignments)
        self.count = len(rules) + len(assignments)
        self._always = [rule for rule, _ in rules if rule.files]
        self._by_keyword: list[list[Rule]] = []
        self._keywords = re2.Set.SearchSet(_options(ignore_case=True))
        # Matches every text: an answer without it means that the automaton ran out of memory.
        places = {"": self._keywords.Add(b"")}
        self._by_keyword.append([])
        for rule, keywords in rules:
            for keyword in () if rule.files else keywords:
                if keyword not in places:
                    places[keyword] = self._keywords.Add(re2.escape(keyword).encode())
                    self._by_keyword.append([])
                self._by_keyword[places[keyword]].append(rule)
        self._keywords.Compile()

    def possible(self, path: str, text: bytes) -> list[Rule]:
        """The rules of which the text holds a keyword, in the order of the file's rules."""
        found = {rule.id: rule for rule in self._always if rule.applies_to(path)}
        places = self._keywords.Match(text) or range(len(self._by_keyword))
        for place in sorted(places):
            found.update({rule.id: rule for rule in self._by_keyword[place]})
        return list(found.values())


@functools.cache
def load() -> RuleSet:
    """The shipped rules, read once a process.

    Raises:
        ConfigError: the file is no TOML, or a rule has an unknown key or lacks one.
    """
    path = assets.gates() / "rules" / "secrets.toml"
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
        rules = [(_rule(each), [word.lower() for word in each["keywords"]]) for each in raw["rule"]]
        assignments = [Assignment(each["id"], each["title"], Pattern(each["pattern"])) for each in raw["assignment"]]
        return RuleSet(rules, assignments)
    except (OSError, ValueError, KeyError) as error:
        raise ConfigError(f"{path}: the secret rules cannot be read: {error}") from error


def _rule(raw: Mapping[str, Any]) -> Rule:
    unknown = set(raw) - _KEYS
    if unknown:
        raise ValueError(f"rule {raw.get('id', '?')!r}: unknown key {min(unknown)!r}")
    return Rule(
        id=raw["id"],
        title=raw["title"],
        cwe=raw.get("cwe", "CWE-798"),
        pattern=Pattern(raw["pattern"]),
        min_entropy=raw.get("min_entropy", 0.0),
        allow=Pattern("|".join(f"(?:{each})" for each in raw["allow"])) if raw.get("allow") else None,
        files=tuple(raw.get("files", ())),
        block=raw.get("where") == "block",
        check=raw.get("check", ""),
    )


def _options(*, ignore_case: bool = False) -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = not ignore_case
    options.log_errors = False
    options.max_mem = 64 << 20
    return options
