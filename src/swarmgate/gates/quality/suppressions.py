"""Counts the comments that suppress tool warnings (noqa, type: ignore, ...) and that the change adds.

They are found in comments, and in the attributes and annotations that some languages have for it; a string that says
`noqa` is data. What was edited beside a suppression, or moved with it, is no new one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.gates.source import comments, grammar_tree
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from swarmgate.gates.source.file import SourceFile

_LIST = r"[\w\-./:@]+(?:\s*,\s*[\w\-./:@]+)*"
_FORMS: dict[str, str] = {
    # Python
    "noqa": r"(?:(?:ruff|flake8): ?)?(?i:noqa)\b(?::? ?(?:[A-Z]+[0-9]+(?:[,\s]+)?)+)?",
    "type: ignore": r"type: ?ignore\b(?:\[[^\]]*\])?",
    "mypy": r"mypy: ?(?:ignore[-_]errors|disable[-_]error[-_]code)[^#\n]*",
    "pyright": r"pyright: ?(?:ignore\b(?:\[[^\]]*\])?|basic|report\w+ ?= ?(?:false|none))",
    "ty": r"ty: ?ignore\b(?:\[[^\]]*\])?",
    "pyre": r"pyre-(?:ignore|fixme)(?:-all-errors)?\b",
    "pylint": rf"pylint: ?(?:disable(?:-next|-all)?|skip-file)(?:=? ?{_LIST})?",
    "nosec": r"nosec\b(?::? ?(?:B\d+(?:[,\s]+)?)+)?",
    "no cover": r"pragma:? no ?(?:cover|branch)\b",
    "lizard": r"lizard forgives?(?: global|\([^)]*\))?",
    "allowlist secret": r"pragma: (?:allowlist|whitelist)(?: nextline)? secret|gitleaks:allow|ggignore",
    # JavaScript and TypeScript
    "eslint": rf"(?:eslint|oxlint)-disable(?:-next-line|-line)?\b(?: +{_LIST})?",
    "ts-ignore": r"@ts-(?:ignore|expect-error|nocheck)\b",
    "biome": rf"biome-ignore(?:-all|-start)? +{_LIST}",
    "deno-lint": rf"deno-lint-ignore(?:-file)?(?: +{_LIST})?",
    "tslint": rf"tslint:disable(?:-next-line|-line)?(?::? ?{_LIST})?",
    "flow": r"\$Flow(?:FixMe|Ignore|Issue|ExpectedError)(?:\[[^\]]*\])?",
    "coverage ignore": r"(?:istanbul|c8|v8|node:coverage) (?:ignore|disable)\b(?: \w+)?"
    r"|coverage:ignore-\w+|LCOV_EXCL_\w+",
    "stylelint": rf"stylelint-disable(?:-next-line|-line)?(?: +{_LIST})?",
    # others
    "nolint": rf"nolint\b(?::{_LIST})?|NOLINT(?:NEXTLINE|BEGIN)?(?:\([^)]*\))?",
    "staticcheck": rf"lint:(?:file-)?ignore +{_LIST}",
    "nosonar": r"NOSONAR\b",
    "nosemgrep": rf"nosemgrep\b(?:: ?{_LIST})?",
    "lgtm": r"(?:lgtm|codeql) ?\[[^\]]*\]",
    "rubocop": rf"(?:rubocop|standard): ?(?:disable|todo) +{_LIST}",
    "shellcheck": rf"shellcheck disable={_LIST}",
    "php": r"@?(?:phpcs:(?:ignore|disable)\w*|phpstan-ignore[\w-]*|psalm-suppress)(?: [\w.]+)?|@codeCoverageIgnore\w*",
    "swiftlint": rf"swiftlint:disable(?::(?:next|this|previous))? +{_LIST}",
    "ktlint": r"ktlint-disable\b(?: [\w-]+)?",
    "checkstyle": r"CHECKSTYLE[.:] ?OFF\b|scalastyle:off\b(?: [\w.]+)?",
    "noinspection": rf"noinspection +{_LIST}",
    "hadolint": rf"hadolint (?:global )?ignore ?= ?{_LIST}",
    "checkov": rf"(?:checkov:skip|tfsec:ignore|trivy:ignore)[=:]{_LIST}",
    "perlcritic": r"no critic\b(?: \([^)]*\))?",
    "resharper": rf"ReSharper disable(?: once)?(?: +{_LIST})?",
    "credo": r"credo:disable-for-[\w-]+(?: [\w.]+)?",
    "luacheck": r"luacheck: ?(?:ignore|no)\b[^#\n]*",
}
"""What a user calls the form, and its text; it stands at the beginning of a comment or of a further mark in one."""

OF_COVERAGE = frozenset({"no cover", "coverage ignore"})
"""The forms that silence no judge of the code: they only say what a measurement of coverage leaves out."""

TOOLS = {
    "noqa": ("ruff", "flake8"), "type: ignore": ("mypy", "pyright", "ty"), "mypy": ("mypy",), "pyright": ("pyright",),
    "ty": ("ty",), "pylint": ("pylint",), "eslint": ("eslint",), "ts-ignore": ("tsconfig",), "biome": ("biome",),
    "nolint": ("golangci",), "shellcheck": ("shellcheck",), "allow": ("clippy",), "expect": ("clippy",),
}  # fmt: skip
"""Whom a form silences, by the names of `gates.loosened_settings`."""

_ANY = "|".join(f"(?P<_{index}>{form})" for index, form in enumerate(_FORMS.values()))
_IN_COMMENT = re.compile(rf"(?:^|[#;]\s*|//\s*|--\s+|\s(?=@ts-|NOSONAR|NOLINT|nosec\b|nosemgrep\b|nolint:))(?:{_ANY})")
_KINDS = tuple(_FORMS)

_WORDS = (
    "noqa", "ignore", "nosec", "mypy", "pyright", "pyre-", "pylint", "no cover", "nocover", "no branch", "nobranch",
    "lizard", "allow", "whitelist", "disable", "expect", "nocheck", "lint", "$flow", "lcov_excl", "nosonar",
    "nosemgrep", "lgtm", "codeql", "rubocop", "standard:", "suppress", "checkstyle", "scalastyle", "noinspection",
    "no critic", "luacheck", "checkov", "tfsec", "trivy",
)  # fmt: skip
"""Every form has one of these words: a cheap look at a text before it is read by tokens."""


_WHOLE_FILE = re.compile(
    r"(?:ruff|flake8): ?noqa|mypy: ?ignore[-_]errors(?: ?= ?true)?|pylint: ?(?:skip-file|disable=all|disable-all)"
    r"|(?:eslint|oxlint|stylelint)-disable|tslint:disable|@ts-nocheck|biome-ignore-all(?: +lint)?|deno-lint-ignore-file"
    r"|phpcs:(?:ignore|disable)(?:SourceFile)?|(?:rubocop|standard): ?disable all|swiftlint:disable all|codeql ?\[\]"
    r"|allow (?:warnings|clippy::all|unused)|CHECKSTYLE[.:] ?OFF",
    re.IGNORECASE,
)
"""The forms that name no rule and reach beyond their line."""


@dataclass(frozen=True, slots=True)
class _Syntax:
    """Suppressions that are syntax: a cheap mark, the nodes of the tree, the form of their text (name, what for)."""

    mark: re.Pattern[str]
    nodes: frozenset[str]
    form: re.Pattern[str]


_ATTRIBUTES = {
    "rust": _Syntax(
        re.compile(r"[\[(,]\s*(?:allow|expect)\s*\("),
        frozenset({"attribute_item", "inner_attribute_item"}),
        re.compile(r"#!?\[\s*(?:cfg_attr\(.*?,\s*)?(allow|expect)\s*\((.*?)\)", re.DOTALL),
    ),
    "java": _Syntax(
        re.compile("@Suppress"), frozenset({"annotation"}), re.compile(r"@(Suppress(?:FB)?Warnings)\b(.*)", re.DOTALL)
    ),
    "kotlin": _Syntax(
        re.compile(r"[@:]Suppress\b"),
        frozenset({"annotation", "file_annotation"}),
        re.compile(r"@(?:file:)?(Suppress)\b(.*)", re.DOTALL),
    ),
    "scala": _Syntax(
        re.compile("@(?:nowarn|Suppress)"),
        frozenset({"annotation"}),
        re.compile(r"@(nowarn|SuppressWarnings)\b(.*)", re.DOTALL),
    ),
    "csharp": _Syntax(
        re.compile(r"#\s*pragma|SuppressMessage"),
        frozenset({"preproc_pragma", "attribute"}),
        re.compile(r"(?:#\s*)?(pragma warning disable|SuppressMessage)\b(.*)", re.DOTALL),
    ),
}


@dataclass(frozen=True, slots=True)
class Suppression:
    """One suppression comment: the tool's form, its text, and its place."""

    kind: str
    text: str
    path: str
    line: int


def added(files: Iterable[SourceFile], deleted: Iterable[SourceFile]) -> list[Suppression]:
    """The suppressions that the change added, ordered by place.

    Of equal ones (same form, same rules) those on added lines are the new ones.
    """
    files = list(files)
    fresh: defaultdict[tuple[str, str], list[Suppression]] = defaultdict(list)
    for file in files:
        for each in _on_added_lines(file):
            fresh[each.kind, _spelled(each.text)].append(each)
    if not fresh:
        return []
    # What a string holds counts on both sides alike, so both can be read as plain text.
    forms = {kind: re.compile(_FORMS[kind]) for kind, _ in fresh if kind in _FORMS}
    risen = Counter(key for file in files for key in _anywhere(file, file.now.text, forms))
    risen.subtract(key for file in (*files, *deleted) for key in _anywhere(file, file.was.text, forms))
    found = [each for key, places in fresh.items() for each in places[len(places) - max(risen[key], 0) :]]
    return sorted(found, key=lambda each: (each.path, each.line, each.kind))


def _on_added_lines(file: SourceFile) -> list[Suppression]:
    lines = file.now.text.split("\n")
    added = "\n".join(lines[number - 1] for number in file.added_lines if number <= len(lines)).lower()
    if not any(word in added for word in _WORDS):
        return []
    return [each for each in find(file.language, file.path, file.now.text) if each.line in file.added_lines]


def _anywhere(file: SourceFile, text: str, forms: Mapping[str, re.Pattern[str]]) -> Iterator[tuple[str, str]]:
    for kind, form in forms.items():
        yield from ((kind, _spelled(_trimmed(match[0]))) for match in form.finditer(text))
    for each in _attributes(file.language, file.path, text):
        yield each.kind, _spelled(each.text)


def find(language: str, path: str, text: str) -> list[Suppression]:
    """Every suppression of a text in a language whose comments are known."""
    found = []
    if language in comments.languages():
        for remark in comments.of(language, text):
            found += [Suppression(kind, comment, path, remark.line) for kind, comment in _of(remark.text)]
    found += _attributes(language, path, text)
    return sorted(found, key=lambda each: each.line)


def whole_file(each: Suppression) -> bool:
    """Whether a comment suppresses a tool for the whole file, or for all that follows in it."""
    return bool(_WHOLE_FILE.fullmatch(each.text))


def not_adopted(found: Iterable[Suppression], adopted: frozenset[str]) -> list[Suppression]:
    """The suppressions that do not belong to a tool that the change newly adopts.

    A `noqa` behind one that does comes with it: the line became too long by that.
    """
    found = list(found)
    skip = [each for each in found if not adopted.isdisjoint(TOOLS.get(each.kind, ()))]
    places = {(each.path, each.line) for each in skip}
    return [
        each for each in found if each not in skip and (each.kind != "noqa" or (each.path, each.line) not in places)
    ]


def summary(found: Iterable[Suppression]) -> str:
    """`2 new suppressions (noqa 1, nosec 1)`, empty for none."""
    kinds = Counter(each.kind for each in found)
    if not kinds:
        return ""
    parts = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
    return f"{kinds.total()} new suppression{'s' if kinds.total() > 1 else ''} ({parts})"


def _of(comment: str) -> Iterator[tuple[str, str]]:
    for match in _IN_COMMENT.finditer(comment):
        name = match.lastgroup or "_0"
        yield _KINDS[int(name[1:])], _trimmed(match[name])


def _spelled(text: str) -> str:
    """The text as it is compared: `nocover`, `no cover` and `No-Cover` are one."""
    return re.sub(r"[\s_-]+", "", text).lower()


def _trimmed(text: str) -> str:
    return " ".join(text.strip(" #;/-,:").split())


def _attributes(language: str, path: str, text: str) -> Iterator[Suppression]:
    syntax = _ATTRIBUTES.get(language)
    if syntax is None or not syntax.mark.search(text):
        return
    try:
        root = grammar_tree.parse(text.encode(), grammars.grammar_of(path, language)).root_node
    except grammars.TooSlow:
        return
    for node in grammars.walk(root):
        match = syntax.form.match((node.text or b"").decode("utf-8", "replace")) if node.type in syntax.nodes else None
        if match:
            yield Suppression(match[1], " ".join(f"{match[1]} {match[2]}".split()), path, node.start_point[0] + 1)
