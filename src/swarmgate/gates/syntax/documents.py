"""Checks the syntax of data files: JSON, TOML, YAML, XML; each with its own parser, nothing is fetched."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from swarmgate.config import toml_text
from swarmgate.gates.syntax.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

_LENIENT = re.compile(
    r"(?P<comment>//[^\n]*+|/\*(?:[\s\S]*?\*/|[\s\S]*+))"
    r'|(?P<double>"[^"\\\n]*+(?:\\[\s\S][^"\\\n]*+)*+")'
    r"|(?P<single>'[^'\\\n]*+(?:\\[\s\S][^'\\\n]*+)*+')"
    r"|(?P<word>[A-Za-z_$][\w$]*+)"
    r"|(?P<number>[+-]?(?:0[xX][0-9a-fA-F]++|(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?|Infinity\b|NaN\b))"
)
_TRAILING = re.compile(r",(?=\s*[\]}])")
_TEMPLATE = re.compile(rb"\{\{[-~#/]?\s*[\w.$\"'(]|\{%|<%|\$\{\{|@[A-Z_]{3,}@|%\{|^\s*%[#= ]|\{\{#", re.MULTILINE)
_NESTING = {"SequenceStartEvent": 1, "MappingStartEvent": 1, "SequenceEndEvent": -1, "MappingEndEvent": -1}
_DEEPEST = 1000
_NEWER_YAML = ("found unknown escape character '/'",)


def check(language: str, path: str, content: bytes) -> list[Problem] | str:
    """What is wrong with a document; a word where it cannot be told."""
    if language != "xml" and not _is_utf8(content):
        return f"{language} that is not UTF-8"
    result = _PARSERS[language](content) if not path.lower().endswith((".json5", ".hjson")) else _json5(content)
    if isinstance(result, Problem) and _TEMPLATE.search(content):
        return f"{language} template"
    return result if isinstance(result, str) else [result] if result else []


def languages() -> frozenset[str]:
    """Every language that is looked at here."""
    return frozenset(_PARSERS)


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _json(content: bytes) -> Problem | str | None:
    text = content.decode("utf-8-sig")
    wrong = strict_json(text)
    if wrong is None or not text.strip():
        return wrong
    # Many tools read .json with comments; nobody writes one by accident. Without them, the strict rules hold.
    comments = any(match["comment"] for match in _LENIENT.finditer(text))
    return _json5(content) if comments else wrong


def strict_json(text: str) -> Problem | None:
    """What keeps a text from being JSON (RFC 8259; NaN and Infinity are let pass)."""
    try:
        # Numbers stay text: a long one is no error, and turning it into one costs quadratic time.
        json.loads(text, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        return Problem(error.lineno, error.colno, f"not valid JSON: {_lowered(error.msg)}")
    except RecursionError:
        return Problem(0, 0, "not valid JSON: nested too deeply")
    return None


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:]


def _json5(content: bytes) -> Problem | None:
    """JSON with comments, trailing commas, single quotes, bare keys and the numbers of JSON5, made strict in place."""
    text = _LENIENT.sub(_strict, content.decode("utf-8-sig"))
    return strict_json(_TRAILING.sub(" ", text)) if text.strip() else None


def _strict(match: re.Match[str]) -> str:
    text, width = match[0], len(match[0])
    if match["comment"]:
        return re.sub(r"[^\n]", " ", text)
    if match["double"] or match["single"]:
        return '"' + re.sub(r"[^\n]", "x", text[1:-1]).replace("\n", " ") + '"' + "\n" * text.count("\n")
    if match["word"] and text in {"true", "false", "null"}:
        return text
    return '"' + "x" * (width - 2) + '"' if match["word"] else "1".ljust(width)


def _jsonl(content: bytes) -> Problem | None:
    for number, line in enumerate(content.decode("utf-8-sig").split("\n"), 1):
        wrong = strict_json(line) if line.strip() else None
        if wrong:
            return Problem(number, wrong.column, wrong.message)
    return None


def _toml(content: bytes) -> Problem | None:
    try:
        toml_text.loads(content.decode("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        end = content.count(b"\n") + 1
        line, column = (int(place[1]), int(place[2])) if place else (end, 0)
        return Problem(line, column, f"not valid TOML: {_lowered(str(error).partition(' (at')[0])}")
    return None


def _yaml(content: bytes) -> Problem | str | None:
    import yaml  # noqa: PLC0415 - late: 20 ms that `swarm --help` must not pay

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    anchors, depth = set[str](), 0
    try:
        # Events, not objects: unknown tags (CloudFormation, Ansible) are legal, and aliases cannot explode.
        event: Any  # the stubs do not tell the kinds of events apart
        for event in yaml.parse(content, Loader=loader):
            kind = type(event).__name__
            depth += _NESTING.get(kind, 0)
            if depth > _DEEPEST:  # libyaml takes quadratic time for the depth
                return "yaml nested too deeply"
            if kind == "DocumentStartEvent":
                anchors.clear()
            elif kind == "AliasEvent":
                if event.anchor not in anchors:
                    message = f"not valid YAML: no anchor `{event.anchor}` before its alias"
                    return Problem(event.start_mark.line + 1, event.start_mark.column + 1, message)
            elif getattr(event, "anchor", None):
                anchors.add(event.anchor)
    except yaml.MarkedYAMLError as error:
        return _not_yaml(error)
    except (yaml.YAMLError, RecursionError) as error:
        return Problem(0, 0, f"not valid YAML: {(str(error) or 'nested too deeply').splitlines()[0]}")
    return None


def _not_yaml(error: Any) -> Problem | str | None:
    """What the parser objects to; None where it is its own age that does."""
    mark = error.problem_mark or error.context_mark
    reason = str(error.problem or error.context)
    if reason in _NEWER_YAML:
        return None
    if "nesting depth" in reason:  # PyYAML has a bound of its own from 6.0.4 on
        return "yaml nested too deeply"
    line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
    opened = f" (in what begins in line {error.context_mark.line + 1})" if error.context_mark else ""
    return Problem(line, column, f"not valid YAML: {reason}{opened}")


def _xml(content: bytes) -> Problem | str | None:
    from xml.parsers import expat  # noqa: PLC0415 - late: few changes hold XML

    parser = expat.ParserCreate()
    # No handler for external entities: expat then reads none, neither from disk nor from a network.
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        message = expat.ErrorString(error.code)
        if "encoding" in message or "amplification" in message:
            return f"XML with an {message}" if message.startswith("unknown") else f"XML: {message}"
        return Problem(error.lineno, error.offset + 1, f"not valid XML: {message}")
    except (ValueError, LookupError) as error:
        return f"XML with an {error}" if str(error).startswith("unknown") else f"XML: {error}"
    return None


_PARSERS: dict[str, Callable[[bytes], Problem | str | None]] = {
    "json": _json,
    "jsonc": _json5,
    "jsonl": _jsonl,
    "toml": _toml,
    "xml": _xml,
    "yaml": _yaml,
}
