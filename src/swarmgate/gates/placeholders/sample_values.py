"""Detects placeholder values in code: filler text, example addresses, dummy keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.placeholders.function_bodies import finding
from swarmgate.gates.project.files import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.source.file import SourceFile

_FILLER = re.compile(r"\blorem ipsum\b", re.IGNORECASE)
_APART = re.compile(
    r"lorem|faker|fake|mock|example|sample|demo|tutorial|storybook|stories|fixture|template|docs?/"
    r"|seed|snapshot|i18n|test"
    r"|placeholder|bench",
    re.IGNORECASE,
)
# A name, an assignment, one whole string: what a value that nobody filled in looks like in every language.
_ASSIGNED = re.compile(
    r"(?P<name>[\w$.-]+)[\"'\]]*\s*(?::\s*[\w.<>\[\]?| ]+)?(?::=|=>|=|:)\s*\{?\s*(?P<quote>[\"'`])(?P<value>[^\"'`\s]"
    r"{3,200})(?P=quote)"
)
_KEY = re.compile(
    r"^[<{\[(]*(?:your|my|insert|enter|put|add|replace)[-_ ]?(?:own[-_ ]?|with[-_ ]?|the[-_ ]?"
    r"|actual[-_ ]?|real[-_ ]?)*(?:\w+[-_ ]){0,3}?"
    r"(?:api[-_ ]?key|key|token|secret|password|passwd|credentials?|account|client[-_ ]?id|project[-_ ]?id"
    r"|username|domain|bucket|url|endpoint|hostname)"
    r"(?:[-_ ](?:id|here|goes[-_ ]here|value|name|key))*[>}\])]*$|^(?:replace|change|fill)[-_]?(?:me"
    r"|this)(?:[-_]\w+)*$|^<(?:api|secret|access|your)[-_ ]\w+>$",
    re.IGNORECASE,
)
_KEY_NAME = re.compile(
    r"key|token|secret|passw|credential|auth|account|client|url|host|endpoint|bucket|project|user|domain|dsn",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"^(?:https?|wss?|ftp|postgres\w*|mysql|redis|amqps?|mongodb)://(?:[\w.-]*@)?(?:[\w-]+\.)*(?:example\.(?:com"
    r"|org|net)|yourdomain\.com|your-?(?:domain|site|company|app|api|server)\.(?:com|org|net"
    r"|io))(?=[:/?#]|$)"
    r"|^[\w.+-]+@(?:[\w-]+\.)*example\.(?:com|org|net)$",
    re.IGNORECASE,
)
_EXPLAINS = re.compile(
    r"example|placeholder|sample|demo|doc|help|description|hint|usage|test|mock|fake|dummy|default_text"
    r"|label|title|pattern|regex|xmlns|schema",
    re.IGNORECASE,
)
_CODE = frozenset({
    "c", "cpp", "csharp", "dart", "go", "java", "javascript", "kotlin", "lua", "php", "python", "ruby", "rust", "scala",
    "swift", "svelte", "typescript", "vue",
})  # fmt: skip
_SEEN = frozenset({
    "html", "svelte", "vue", "javascript", "typescript", "php", "python", "ruby", "java", "kotlin", "swift", "dart",
    "csharp", "go",
})  # fmt: skip
_QUICK = (
    "lorem ipsum", "example.com", "example.org", "example.net", "your", "insert", "enter", "replace", "change", "fill",
    "<api", "<secret", "<access", "put_", "put-", "put your", "my_", "my-",
)  # fmt: skip


def values(source: SourceFile, text: str, commented: frozenset[int]) -> Iterator[Finding]:
    """The filler text and example values of one file.

    Args:
        source: the file; tests, documentation, and folders of examples have such values by right.
        text: its content.
        commented: the lines that a comment or docstring covers.
    """
    if source.traits & {Trait.TEST, Trait.DOC} or _APART.search(source.path):
        return
    lowered = text.lower()
    for number in sorted({lowered.count("\n", 0, place) + 1 for place in _places(lowered)} - commented):
        line = _line(text, number)
        if len(line) > 2000:  # noqa: PLR2004 - data, not code
            continue
        if source.language in _SEEN and _FILLER.search(line) and not _EXPLAINS.search(line):
            yield finding("filler-text", source.path, number, Severity.MEDIUM, "filler text where users would read")
        if source.language in _CODE:
            yield from _examples(source, number, line)


def _places(text: str) -> Iterator[int]:
    for word in _QUICK:
        place = text.find(word)
        while place >= 0:
            yield place
            place = text.find(word, text.find("\n", place)) if "\n" in text[place:] else -1


def _line(text: str, number: int) -> str:
    return text.split("\n", number)[number - 1]


def _examples(source: SourceFile, number: int, line: str) -> Iterator[Finding]:
    for found in _ASSIGNED.finditer(line):
        name, value = found["name"], found["value"]
        if _EXPLAINS.search(name) or "==" in found[0]:
            continue
        if _KEY.match(value) and _KEY_NAME.search(name):
            yield finding("example-value", source.path, number, Severity.MEDIUM, f"`{name}` is a value to be filled in")
        elif _ADDRESS.match(value) and len(name) > 1:
            yield finding(
                "example-value", source.path, number, Severity.MEDIUM, f"`{name}` points to an example address"
            )
