"""Finds candidates for secrets in text: known provider formats, and values assigned to telling names.

Everything works on the file's bytes and is linear in them: RE2 for the patterns, bounded steps for the values.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.gates.secret_scan import rules as secret_rules
from swarmgate.gates.secret_scan.values import Form, Kind, assigned, formatted, is_local_default, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.secret_scan.rules import Assignment, Rule

_MAX_VALUE = 1024
"""Bytes of a value that is assigned to a name; longer ones are texts and blobs."""

_MAX_NESTED = 16
"""Names in one run without a space (`a:b:c`) of which each is judged: the time must not be quadratic in the run."""

_MAX_BLOCK = 20_000
"""Bytes of a private key's text; with 16,384 bits it has 13,000."""

_UNCERTAIN = {"weak", "random", "basic"}
"""Checks that judge a value: such a finding blocks like an assignment, not like a provider's format."""

_NEAR = 1500
"""Bytes around a password in which the user and the database that it belongs to are named."""

_BESIDE = 120
"""Bytes before and after `pass` in which the other verdicts of a table stand."""

_OTHER_VERDICT = re.compile(rb"\b(?:fail(?:ed|ure)?|skip(?:ped)?)[\"']?\s*[:=,\]]", re.IGNORECASE)

# In these a bare word after `=` or `:` is the value; everywhere else it is a reference to one.
_BARE = {"ini", "yaml", "dockerfile", "bash", "properties", "powershell", "makefile", "terraform"}
_PROSE = {"markdown", "rst", "text", ""}
_SHOUTED = re.compile(rb"^[A-Z][A-Z0-9]*_[A-Z0-9_]+$")
_LINE_VALUE = re.compile(rb"[^\r\n]{0,1024}")
_WORD_VALUE = re.compile(rb"[^\s\"'`<>|]{0,1024}")
_ELEMENT_VALUE = re.compile(rb"[^<>\r\n]{0,1024}")
_BLOCK_LINES = re.compile(rb"(?:\r?\n[ \t]{0,40}[A-Za-z0-9+/=]{16,128}(?=[ \t]{0,40}[\r\n])){0,200}")
_INNER_VALUE = re.compile(rb"[^\s\"'`<>|;&,)\\]{0,1024}")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text taken for a secret: where it stands in the file's bytes, and the rule that says so."""

    start: int
    end: int
    rule: str
    title: str
    cwe: str
    value: str
    certain: bool
    local: bool = False
    """Whether it only repeats the user, the database or the service beside it: the default of a local service."""


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a name stands, where its value begins, and the quote before that, if any."""

    start: int
    stop: int
    value: int
    quote: bytes | None


def search(path: str, language: str, text: bytes, *, providers_only: bool) -> list[Candidate]:
    """The secrets of a text, in the order of their place; where two overlap, the more certain one.

    Args:
        path: the file's name, for rules of certain files.
        language: in code an unquoted value is a reference, in a configuration file it is the value.
        text: the file, in an encoding that holds ASCII as it is.
        providers_only: leave out what only a name tells (lock and generated files are full of names).
    """
    rules = secret_rules.load()
    found = [each for rule in rules.possible(path, text) for each in _by_format(rule, text)]
    if not providers_only:
        found += [each for rule in rules.assignments for each in _by_name(rule, language, text)]
    return _apart(found)


def _apart(found: list[Candidate]) -> list[Candidate]:
    result: list[Candidate] = []
    for each in sorted(found, key=lambda each: (each.start, not each.certain, -len(each.value))):
        last = result[-1] if result else None
        if last is None or each.start >= last.end:
            result.append(each)
        elif each.certain and not last.certain:
            result[-1] = each
    return result


def _by_format(rule: Rule, text: bytes) -> Iterator[Candidate]:
    secret, user = rule.pattern.group("value"), rule.pattern.group("user")
    for match in rule.pattern.re.finditer(text):
        start, end = match.span(secret)
        if start < 0:
            start, end = match.span()
        if rule.allow is not None and rule.allow.re.search(text[start:end]):
            continue
        value = text[start:end].decode("utf-8", "replace")
        name = match.group(user).decode("utf-8", "replace") if user else ""
        if formatted(value, check=rule.check, min_entropy=rule.min_entropy, user=name):
            begin = start
            if rule.block:
                begin = match.start() + (text[match.start() : match.start() + 1] == b"\n")
                end = _end_of_block(text, end)
                value = "".join(text[start:end].decode("utf-8", "replace").split())
            yield Candidate(begin, end, rule.id, rule.title, rule.cwe, value, certain=rule.check not in _UNCERTAIN)


def _end_of_block(text: bytes, start: int) -> int:
    """Where a key ends of which the first line was found: all keys of a kind begin alike."""
    end = text.find(b"-----END", start, start + _MAX_BLOCK)
    if end >= 0 and b"-----BEGIN" not in text[start:end]:
        return end
    return _end(_BLOCK_LINES, text, start)


def _by_name(rule: Assignment, language: str, text: bytes) -> Iterator[Candidate]:
    nested, past = Counter[int](), 0
    named, quoted = rule.pattern.group("name"), rule.pattern.group("quote")
    for match in rule.pattern.re.finditer(text):
        spot = _Spot(match.start(named), match.end(named), match.end(), match.group(quoted) if quoted else None)
        place = _value(rule.id, language, text, spot)
        if place is None:
            continue
        start, end, form = place
        nested[end] += 1
        if nested[end] > _MAX_NESTED or (end - start >= _MAX_VALUE and start < past):
            continue
        past = end if end - start >= _MAX_VALUE else past
        name, value = text[spot.start : spot.stop].decode("latin-1"), text[start:end].decode("utf-8", "replace")
        if assigned(name, value, form) and not _is_verdict(text, spot):
            local = kind_of(name) is Kind.PASSWORD and _repeats(text, spot.start, end, value)
            yield Candidate(
                start, end, rule.id, f"{rule.title} {name[-60:]}", "CWE-798", value, certain=False, local=local
            )


def _is_verdict(text: bytes, spot: _Spot) -> bool:
    """Whether `pass` stands there as one verdict of several, each with its colour or its word, and for no password."""
    if text[spot.start : spot.stop].rpartition(b".")[2].lower() != b"pass":
        return False
    return _OTHER_VERDICT.search(text[max(0, spot.start - _BESIDE) : spot.value + _BESIDE]) is not None


def _repeats(text: bytes, start: int, end: int, value: str) -> bool:
    before, after = text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
    return is_local_default(value, before.decode("utf-8", "replace"), after.decode("utf-8", "replace"))


def _value(rule: str, language: str, text: bytes, spot: _Spot) -> tuple[int, int, Form] | None:
    """Where the value of an assignment begins and ends, and in what form it stands there."""
    start = spot.value
    if spot.quote:
        end = text.find(spot.quote, start, start + _MAX_VALUE)
        if end < 0 or b"\n" in text[start:end]:
            return None
        return start, end, Form.QUOTED
    if rule == "element-secret":
        return start, _end(_ELEMENT_VALUE, text, start), Form.QUOTED
    return _bare(rule, language, text, spot)


def _bare(rule: str, language: str, text: bytes, spot: _Spot) -> tuple[int, int, Form] | None:
    start = spot.value
    lead = text[spot.stop : start]
    tight = lead in {b"=", b":="} or rule == "option-secret"
    shouted = tight and _SHOUTED.match(text[spot.start : spot.stop])
    if language in _BARE or language in _PROSE or shouted:
        line = language in {"ini", "yaml", "properties"} and rule != "option-secret"
        pattern = _LINE_VALUE if line else _WORD_VALUE
        if line and text.find(b"\n", start, start + _MAX_VALUE) < 0 < len(text) - start - _MAX_VALUE:
            return None
        value = pattern.match(text, start)
        if value is None or (language in {"bash", "makefile"} and not tight and b":" not in lead):
            return None
        end = start + len(_uncommented(value.group()) if line else value.group().rstrip(b",;)\\"))
        certain = language in _BARE or (language in _PROSE and shouted)
        return start, end, Form.BARE if certain else Form.PROSE
    before = text[max(0, spot.start - 1) : spot.start]
    if tight and before in {b";", b"&", b"?", b'"', b"'", b"`", b" "} and b"." not in text[spot.start : spot.stop]:
        value = _INNER_VALUE.match(text, start)
        end = value.end() if value else start
        if text[end : end + 1] in {b";", b"&", b'"', b"'", b"\\", b"`"}:
            return start, end, Form.INNER
    return None


def _end(pattern: re.Pattern[bytes], text: bytes, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


def _uncommented(line: bytes) -> bytes:
    return re.split(rb"\s+[#;]|\s+//", line, maxsplit=1)[0].rstrip().rstrip(b",")
