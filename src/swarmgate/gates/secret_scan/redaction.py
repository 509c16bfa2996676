"""Redacts secrets in everything that gates report.

A masked value is its beginning and the first digits of its hash: enough to find it, and to tell it from another one.
"""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

from swarmgate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.domain.review.finding import Finding
    from swarmgate.gates.outcome import Outcome

SECRETS = "secret_scan"
"""The gate whose findings are about secrets."""

SECRET_CWES = frozenset({"CWE-259", "CWE-321", "CWE-798"})
"""The weaknesses that are a secret in the code, whichever gate finds them."""

_HASH = re.compile(r"\(sha256 ([0-9a-f]{12})\)")
_USER = re.compile(r"(?<=://)([^\s/\"'<>]{1,1024})@")
_REFERENCE = re.compile(r"\$?\{[\w.]+\}|\$\(\w+\)|%\w+%")
_PLAIN_USER = re.compile(r"[A-Za-z]{1,16}")

# What a search could find something in; most of what gates say is none of it, and the rules take 0.08 s to compile.
_POSSIBLE = re.compile(r"\d[\w+=-]{9}|[\w+=-]{9}\d|://|-----BEGIN|pass|pwd|secret|token|key|cred|auth", re.IGNORECASE)
# As bandit tells passwords, by the name alone; with an annotation between name and value, or none.
_NAMED = re.compile(
    r"((?:pas+wo?r?d|pass(?:phrase)?|pwd|token|secrete?)\w{0,40}[\"'\]]{0,2}(?:\s{0,4}:\s{0,4}[\w.\[\]|]{1,40})?"
    r"\s{0,4}[:=]=?\s{0,4}[rbuf]{0,2})([\"'])((?:(?!\2)[^\n]){4,1024})\2",
    re.IGNORECASE,
)


def digest(value: str) -> str:
    """What tells one masked secret from another: the first 12 digits of its SHA-256; empty for an empty one."""
    return sha256(value.encode("utf-8", "replace")).hexdigest()[:12] if value else ""


def mask(value: str) -> str:
    """At most the first four characters (a quarter of a short value) and the digest."""
    return f"{value[: min(4, len(value) // 4)]}… (sha256 {digest(value)})"


def quoted(message: str) -> tuple[str, str]:
    """A message with everything between its first and its last quote masked, and the digest of that."""
    first, last = message.find("'"), message.rfind("'")
    value = message[first + 1 : last] if last > first + 1 else ""
    return f"{message[: first + 1]}{mask(value)}{message[last:]}" if value else message, digest(value)


def about_a_secret(gate: str, finding: Finding) -> bool:
    """Whether a finding says that a secret stands in the code."""
    return gate == SECRETS or finding.cwe in SECRET_CWES


def text(redacted: str) -> str:
    """A text with its secrets masked, and as many lines as it had."""
    redacted = _USER.sub(_user, redacted)
    data = redacted.encode("utf-8", "surrogatepass")
    parts, position = [], 0
    for start, end, value in _found(data):
        parts += [data[position:start], mask(value).encode(), b"\n" * data.count(b"\n", start, end)]
        position = end
    return b"".join([*parts, data[position:]]).decode("utf-8", "surrogatepass") if parts else redacted


def outcome(result: Outcome) -> Outcome:
    """A scanner's outcome with its secrets masked."""
    texts = {result.skip, result.failure, result.error, *result.notes}
    texts.update(each for finding in result.findings for each in (finding.message, finding.suggestion))
    texts.update(each.why for each in result.unchecked)
    everything = "\n\n".join(sorted(texts))
    if not _POSSIBLE.search(everything) or text(everything) == everything:
        return result
    redacted = {each: text(each) for each in texts}
    findings = [
        finding.model_copy(update={"message": redacted[finding.message], "suggestion": redacted[finding.suggestion]})
        for finding in result.findings
    ]
    return replace(
        result, findings=tuple(findings), notes=tuple(redacted[each] for each in result.notes),
        skip=redacted[result.skip], failure=redacted[result.failure], error=redacted[result.error],
        unchecked=tuple(each.model_copy(update={"why": redacted[each.why]}) for each in result.unchecked),
    )  # fmt: skip


def patch(difference: str) -> str:
    """A patch with its secrets masked, also those that are known by their names only."""
    written = difference.split("\n")
    masked = lines([line[1:] for line in written])
    return "\n".join(line[:1] + rest for line, rest in zip(written, masked, strict=True))


def lines(code: Sequence[str]) -> list[str]:
    """Lines of code with their secrets masked, also those that are known by their names only."""
    written = "\n".join(code)
    if not _POSSIBLE.search(written):
        return list(code)
    plain = _NAMED.sub(lambda m: m[0] if _HASH.search(m[3]) else f"{m[1]}{m[2]}{mask(m[3])}{m[2]}", text(written))
    return plain.split("\n")


def _user(match: re.Match[str]) -> str:
    user, colon, password = match[1].partition(":")
    if _REFERENCE.fullmatch(password or user) or (not password and _PLAIN_USER.fullmatch(user)):
        return match[0]
    if _HASH.search(match[1]) or "…" in match[1]:
        return match[0]
    return f"{user}{colon}{mask(password)}@" if password else f"{mask(user)}{colon}@"


def _found(data: bytes) -> list[tuple[int, int, str]]:
    try:
        from swarmgate.gates.secret_scan import search  # noqa: PLC0415 - late: compiles the rules

        found = search.search("", "", data, providers_only=False)
    except (ImportError, ConfigError):
        return []  # secret_scan is an ERROR then, and says so
    return [(each.start, each.end, each.value) for each in found]
