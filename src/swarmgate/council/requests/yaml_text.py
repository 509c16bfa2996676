"""Reads YAML and JSON files of requests, and finds the line of a key in them, for error messages."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from swarmgate.council.requests.toml_lines import Place

if TYPE_CHECKING:
    from yaml import Node

SUFFIXES = (".json", ".yaml", ".yml")
"""How the names of such files end."""

_MOST = 1_000_000
"""Characters of a YAML file: PyYAML reads about 100,000 a second."""

_CALL = re.compile(r"\A\s*[A-Za-z_]\w*\(\s*(?=\{)|(?<=\})\s*\)\s*;?\s*\Z")
"""What stands around the table where a request is written as a call, `subagent({ ... })`."""


def loads(text: str, *, is_json: bool = False) -> Any:
    """The document.

    Raises:
        ValueError: it is none, has an anchor or a key twice, or is nested too deeply; the message names the line.
    """
    try:
        if is_json:
            return json.loads(_without_call(text), object_pairs_hook=_once)
        return _yaml(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def line_of(text: str, place: Place) -> int:
    """The line of the key, or of the longest part of its way that is written out; 0 where none is."""
    import yaml  # noqa: PLC0415 - late: 20 ms that only such files need

    line = 0
    with suppress(yaml.YAMLError, ValueError, RecursionError):
        node = yaml.compose(_without_call(text), yaml.SafeLoader)
        for part in place:
            if isinstance(node, yaml.MappingNode):
                pair = next((pair for pair in node.value if pair[0].value == part), None)
                line, node = (pair[0].start_mark.line + 1, pair[1]) if pair else (line, None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
                node = node.value[part]
                line = node.start_mark.line + 1
            else:
                break
    return line


def _yaml(text: str) -> Any:
    import yaml  # noqa: PLC0415 - late, as above

    if len(text) > _MOST:
        raise ValueError(f"more than {_MOST:,} characters of YAML; as JSON or TOML it may be longer")
    try:
        node = yaml.compose(_without_call(text), yaml.SafeLoader)
        if node is None:
            return None
        _check(node, set())
        return yaml.constructor.SafeConstructor().construct_document(node)
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        place = f" (at line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise ValueError(f"{problem or ' '.join(str(error).split())}{place}") from None


def _check(node: Node, seen: set[int]) -> None:
    """Whether no part stands for another, by an anchor, and each key of a table is a text that stands there once."""
    from yaml import CollectionNode, MappingNode  # noqa: PLC0415 - late, as above

    line = f"line {node.start_mark.line + 1}"
    if id(node) in seen:
        raise ValueError(f"{line}: anchors are not read here: write out what is meant")
    seen.add(id(node))
    if isinstance(node, MappingNode):
        if strange := next((key for key, _ in node.value if key.tag != "tag:yaml.org,2002:str"), None):
            raise ValueError(f"line {strange.start_mark.line + 1}: a key is a text; put it in quotes")
        _once([(key.value, None) for key, _ in node.value], line)
    for each in node.value if isinstance(node, CollectionNode) else ():
        _check(each[1] if isinstance(each, tuple) else each, seen)


def _once(pairs: list[tuple[str, Any]], place: str = "") -> dict[str, Any]:
    """The table of these pairs, each of which has a key of its own."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{place}{': ' if place else ''}the key `{key[:60]}` stands there twice")
        found[key] = value
    return found


def is_call(text: str) -> bool:
    """Whether a request is written as a call."""
    return _without_call(text) != text


def _without_call(text: str) -> str:
    """The text with blanks for a call around it: lines stay where they are."""
    return _CALL.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
