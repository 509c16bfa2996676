"""Where could a secret be: detect-secrets' plugins, our own rules and assignments to telling names, line by line.

Imported late: it brings detect-secrets. Its plugins and filters are called one by one, since its own scan loop keeps
global settings that two threads would share.
"""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.filters.allowlist import is_line_allowlisted
from detect_secrets.plugins.high_entropy_strings import HighEntropyStringsPlugin
from detect_secrets.plugins.keyword import KeywordDetector
from detect_secrets.util.code_snippet import get_code_snippet

from swarmgate import assets
from swarmgate.errors import ConfigError
from swarmgate.gates.secret_values import Candidate, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detect_secrets.plugins.base import BasePlugin

_LONG_LINE = 2000
"""Characters of a line that the assignment rules look at; provider rules see all of it."""

_WINDOW = 4000
"""Detect-secrets' patterns get a long line in pieces of this length, overlapping by a quarter."""

# The header alone is no key (ours wants the body), addresses are no secrets, and our URL rule knows placeholders.
_LEFT_OUT = {"PrivateKeyDetector", "IPPublicDetector", "BasicAuthDetector"}

_ASSIGNMENT = re.compile(
    r"""(?P<name>[\w.\-]{0,40}?(?:token|api_?-?key|secret|passw(?:or)?d|passphrase|pwd|credential|access_?-?key|auth_?-?key)[\w\-]{0,20})"""
    r"""["'\]]{0,2}\s{0,8}(?::=|=>|=(?!=)|:)\s{0,8}(?P<quote>["'`]?)(?P<value>[^\s"'`,;]{6,200})(?P<end>.?)""",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Rule:
    id: str
    title: str
    pattern: re.Pattern[str]
    word: str
    multiline: bool


def search(path: str, text: str, *, providers_only: bool) -> Iterator[Candidate]:
    """Everything in a text that may be a secret, before its plausibility is judged."""
    lines = text.splitlines()
    for rule in _rules():
        if rule.multiline and rule.word in text.lower():
            for match in rule.pattern.finditer(text):
                place = len(text[: match.start() + 1].splitlines())
                yield _candidate(rule, match, place, lines, path)
    for number, line in enumerate(lines, 1):
        if len(line) >= 8:  # noqa: PLR2004 - shorter than any secret with its name
            yield from _in_line(path, lines, number, line, providers_only=providers_only)


def _in_line(path: str, lines: list[str], number: int, line: str, *, providers_only: bool) -> Iterator[Candidate]:
    lowered = line.lower()
    found = [
        Candidate(number, rule.id, rule.title, _value(match), Kind.PROVIDER, line)
        for rule in _rules()
        if not rule.multiline and rule.word in lowered
        for match in rule.pattern.finditer(line)
    ]
    found += _by_plugins(path, number, line, providers_only=providers_only)
    if not providers_only:
        for match in _ASSIGNMENT.finditer(line[:_LONG_LINE]):
            if match["quote"] and match["end"].isspace():
                continue  # the first word of a sentence
            found.append(
                Candidate(
                    number,
                    "assigned-secret",
                    f"secret assigned to {match['name'][-40:]}",
                    match["value"],
                    Kind.KEYWORD,
                    line,
                    quoted=bool(match["quote"]),
                )
            )
    if found:
        suppressed = _suppressed(path, lines, number)
        for candidate in found:
            yield candidate.marked(suppressed=suppressed)


def _by_plugins(path: str, number: int, line: str, *, providers_only: bool) -> list[Candidate]:
    found = []
    for start in range(0, max(len(line) - _WINDOW // 4, 1), _WINDOW * 3 // 4):
        piece = line[start : start + _WINDOW]
        for rule, plugin, kind in _plugins():
            if providers_only and kind is not Kind.PROVIDER:
                continue
            if kind is Kind.KEYWORD and len(line) > _LONG_LINE:
                continue
            for secret in plugin.analyze_line(filename=path, line=piece, line_number=number):
                value = secret.secret_value or ""
                quoted = f'"{value}' in piece or f"'{value}" in piece or f"`{value}" in piece
                found.append(Candidate(number, rule, plugin.secret_type, value, kind, line, quoted=quoted))
    return found


def _candidate(rule: _Rule, match: re.Match[str], line: int, lines: list[str], path: str) -> Candidate:
    suppressed = _suppressed(path, lines, line)
    return Candidate(line, rule.id, rule.title, _value(match), Kind.PROVIDER, lines[line - 1], suppressed=suppressed)


def _value(match: re.Match[str]) -> str:
    return match["value"] if "value" in match.re.groupindex else match.group()


def _suppressed(path: str, lines: list[str], number: int) -> bool:
    context = get_code_snippet(lines=list(lines[max(0, number - 2) : number]), line_number=min(number, 2))
    return is_line_allowlisted(path, lines[number - 1], context)


@functools.cache
def _plugins() -> Sequence[tuple[str, BasePlugin, Kind]]:
    classes: list[type[BasePlugin]] = sorted(
        get_mapping_from_secret_type_to_class().values(), key=lambda each: each.__name__
    )
    chosen = [(each(), _kind(each)) for each in classes if each.__name__ not in _LEFT_OUT]
    return [(_rule_id(plugin.secret_type), plugin, kind) for plugin, kind in chosen]


def _kind(plugin: type[BasePlugin]) -> Kind:
    if issubclass(plugin, HighEntropyStringsPlugin):
        return Kind.ENTROPY
    return Kind.KEYWORD if issubclass(plugin, KeywordDetector) else Kind.PROVIDER


def _rule_id(secret_type: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", secret_type.lower()).strip("-")


@functools.cache
def _rules() -> Sequence[_Rule]:
    path = assets.gates() / "rules" / "secrets.toml"
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))["rule"]
        return [
            _Rule(each["id"], each["title"], re.compile(each["pattern"]), each["word"], each.get("multiline", False))
            for each in raw
        ]
    except (OSError, ValueError, KeyError, re.error) as error:
        raise ConfigError(f"{path}: the secret rules cannot be read: {error}") from error
