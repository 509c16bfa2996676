"""Is a candidate a secret, or an example, a reference, a hash, a name? Pure judgement on one value and its line."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from enum import IntEnum


class Kind(IntEnum):
    """What a candidate was found by, the most certain first."""

    PROVIDER = 1
    KEYWORD = 2
    ENTROPY = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may be a secret, with the line that it stands on. Never shown to anybody as it is."""

    line: int
    rule: str
    title: str
    value: str
    kind: Kind
    context: str
    quoted: bool = False
    suppressed: bool = False

    def marked(self, *, suppressed: bool) -> Candidate:
        """The same candidate, suppressed by a comment or not."""
        return replace(self, suppressed=suppressed)


_CODE = {
    "c", "cpp", "csharp", "dart", "go", "groovy", "java", "javascript", "kotlin", "lua", "perl", "php", "python", "r",
    "ruby", "rust", "scala", "swift", "typescript", "vue", "svelte", "zig", "haskell", "elixir", "terraform", "html",
    "markdown", "rst", "text", "sql",
}  # fmt: skip
_DUMMY = re.compile(
    r"your|example|change[-_ ]?me|change[-_ ]?this|replace|placeholder|dummy|fake|sample|redacted|insert|todo"
    r"|x{4,}|\*{3,}|\.{3,}|…|lorem|foo|bar|baz|<|>|\$\{|\{\{|%\(|\{[^{}\s]*\}|_here$|^\$|^%|^@"
    r"|not[-_]?a?[-_]?(?:real|secret)|1234567|abcdef|^env[.:]|deadbeef",
    re.IGNORECASE,
)
_PROVIDER_DUMMY = re.compile(
    r"example|x{6,}|\*{3,}|\.{3,}|your[-_]|placeholder|1234567890|0{12,}|_here$|<|\$\{|\{\{", re.IGNORECASE
)
_WORDS = {
    "password", "passwd", "pass", "passphrase", "secret", "secrets", "token", "tokens", "key", "apikey", "api_key",
    "user", "username", "admin", "root", "test", "testing", "tests", "none", "null", "nil", "true", "false",
    "undefined", "string", "str", "bytes", "bool", "int", "optional", "required", "unknown", "default", "empty",
    "disabled", "enabled", "postgres", "mysql", "guest", "demo", "localhost", "value", "hidden", "masked",
    "private", "public", "bearer", "basic", "object", "self", "request", "response", "config", "settings",
}  # fmt: skip
_UUID = re.compile(r"^\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?$", re.IGNORECASE)
_HEX = re.compile(r"^(?:0x)?[0-9a-f]+$", re.IGNORECASE)
_NAME_OF_VARIABLE = re.compile(r"^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$")
_REFERENCE = re.compile(
    r"^[\w$]+(?:(?:\.|->|::|\?\.)[\w$]+)*[\[(]|^[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)+$|^[A-Za-z_]+$"
)
_WORDY = re.compile(r"^[a-z]+(?:[-_ ./:][a-z]+)+$|^[A-Z]?[a-z]+(?:[A-Z][a-z]+)+$|^[/~.][\w./~-]*$|^https?://[^@\s]*$")
_NAME_OF_OTHER = re.compile(
    r"(?:token|key|secret|passw(?:or)?d|pwd|credentials?|passphrase)[\w\-]*?[_\-]?(?:s?names?|files?|paths?|dir|ur[li]s?|fields?|labels?|"
    r"env|env_?vars?|headers?|ids?|types?|hint|prompt|regex|pattern|polic(?:y|ies)|length|size|min|max|versions?|refs?|arn|column|index|"
    r"expir\w*|ttl|lifetime|scopes?|count|limit|usage|placeholder|error|message|title|hash(?:ed)?|endpoint|manager|provider|class|format|"
    r"algorithm|encoding|rotation|reset|format|prefix|suffix|strength|validators?|hashers?)[\"'\]]{0,2}\s*(?::=|=>|={1,3}|:)",
    re.IGNORECASE,
)
_ABOUT_HASHES = re.compile(
    r"sha-?\d|md5|hash|digest|checksum|integrity|commit|\brev(?:ision)?\b|fingerprint|etag|blob|nonce\b|uuid|guid",
    re.IGNORECASE,
)
_ABOUT_SECRETS = re.compile(
    r"key|token|secret|passw|pwd|credential|auth|private|sign(?:ing|ature)|salt|bearer", re.IGNORECASE
)
_MIN_KEYWORD_ENTROPY = 2.3
_MIN_LONG = 32
_MAX_SEPARATORS = 3


def plausible(candidate: Candidate, language: str) -> bool:
    """Whether a candidate is taken for a real secret.

    Args:
        candidate: what was found.
        language: of the file; in code an unquoted value is a reference, in a configuration file it is the value.
    """
    value = candidate.value.strip()
    if not re.search(r"[^\W\d_]", value) or _same_character(value):
        return False
    if candidate.kind is Kind.PROVIDER:
        return _provider(candidate, value)
    if (
        value.lower() in _WORDS
        or _DUMMY.search(value)
        or _UUID.match(value)
        or _WORDY.match(value)
        or _NAME_OF_VARIABLE.match(value)
    ):
        return False
    if candidate.kind is Kind.KEYWORD:
        return _keyword(candidate, value, language)
    return _entropy(candidate, value)


def _provider(candidate: Candidate, value: str) -> bool:
    if candidate.rule == "url-credentials":
        user = re.search(r"://([^\s/:@]*):", candidate.context)
        known = {user[1].lower()} if user else set()
        return value.lower() not in _WORDS | known and not _DUMMY.search(value)
    if candidate.rule == "private-key":
        return not _PROVIDER_DUMMY.search(value)
    if candidate.rule == "json-web-token" and value.count(".") < 2:  # noqa: PLR2004 - header.payload.signature
        return False
    return not _PROVIDER_DUMMY.search(value)


def _keyword(candidate: Candidate, value: str, language: str) -> bool:
    if _NAME_OF_OTHER.search(candidate.context) or " " in value or len(value) < 6:  # noqa: PLR2004 - a policy of ours
        return False
    if not candidate.quoted and (language in _CODE or _REFERENCE.match(value)):
        return False
    if value.isalpha() and value.islower() and not re.search(r"passw|pwd|passphrase", candidate.context, re.IGNORECASE):
        return False  # `token = "comma"`: a word; passwords may be words
    if re.search(r"[()\[\]{}\\|^]", value) and not candidate.quoted:
        return False
    if _ABOUT_HASHES.search(candidate.context) and _HEX.match(value):
        return False
    return entropy(value) >= _MIN_KEYWORD_ENTROPY


def _entropy(candidate: Candidate, value: str) -> bool:
    if _ABOUT_HASHES.search(candidate.context) or value.lower() in "abcdefghijklmnopqrstuvwxyz0123456789":
        return False
    named = bool(_ABOUT_SECRETS.search(candidate.context.replace(value, "")))
    if _HEX.match(value):
        return named and len(value) >= _MIN_LONG
    mixed = bool(re.search(r"[a-z]", value) and re.search(r"[A-Z]", value) and re.search(r"\d", value))
    return (
        mixed
        and "/" not in value[:1]
        and (named or (len(value) >= _MIN_LONG and value.count("/") + value.count("-") <= _MAX_SEPARATORS))
    )


def entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())


def _same_character(value: str) -> bool:
    return len(set(value)) <= 2  # noqa: PLR2004 - `xxxxxx`, `------`, `0x0000`
