"""Edits JSON as text, so that what a person wrote in it, comments and spacing included, stays as it is.

A file is read by tree-sitter's grammar, which knows comments, and changed by cutting and inserting bytes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from swarmgate.agent_hooks.programs.listing import is_ours
from swarmgate.errors import UsageError
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from tree_sitter import Node

_LIMIT_S = 2.0
_KEY = "hooks"


def with_entry(text: bytes, event: str, entry: dict[str, Any]) -> bytes:
    """The file with one more entry for an event below `hooks`.

    Raises:
        UsageError: the file is no JSON object, or `hooks` in it is of another form.
    """
    text = text if text.strip() else b"{}\n"
    root = _root(text)
    hooks = _member(root, _KEY, "object")
    if hooks is None:
        return _added(text, root, f'"{_KEY}": {_dumped({event: [entry]}, 1)}')
    listed = _member(hooks, event, "array")
    if listed is None:
        return _added(text, hooks, f'"{event}": {_dumped([entry], 2)}')
    return _added(text, listed, _dumped(entry, 3))


def without_entries(text: bytes) -> bytes:
    """The file without the entries that were installed, and without what held nothing else; empty: nothing is left.

    Raises:
        UsageError: as above.
    """
    while (cut := _next_cut(text)) is not None:
        text = text[: cut[0]] + text[cut[1] :]
    return b"" if not _members(_root(text)) and not any(_comments(_root(text))) else text


def entries(text: bytes) -> list[tuple[str, Any]]:
    """Each entry below `hooks` with its event.

    Raises:
        UsageError: as above.
    """
    if not text.strip():
        return []
    hooks = _member(_root(text), _KEY, "object")
    return [(event, value) for event, _, _, value in _listed(hooks)] if hooks is not None else []


def _next_cut(text: bytes) -> tuple[int, int] | None:
    """The bytes of one installed entry; with the event, or all of `hooks`, where nothing else is in them."""
    root = _root(text)
    hooks = _member(root, _KEY, "object")
    if hooks is None:
        return None
    for event, listed, node, value in _listed(hooks):
        if not is_ours(value):
            continue
        held, parts = node, listed
        for part, above in ((_pair(hooks, event), hooks), (_pair(root, _KEY), root)):
            if len(_members(parts)) > 1 or any(_comments(parts)):
                break
            held, parts = part, above
        return _bounds(text, held, _members(parts))
    return None


def _bounds(text: bytes, held: Node, members: list[Node]) -> tuple[int, int]:
    """What goes with a member: the comma before it, or after it where it is the first, and the blanks between."""
    at = next(number for number, each in enumerate(members) if each.start_byte == held.start_byte)
    if at:
        return members[at - 1].end_byte, held.end_byte
    if len(members) > 1:
        return held.start_byte, members[1].start_byte
    begin, end = held.start_byte, held.end_byte
    while text[begin - 1 : begin].isspace():
        begin -= 1
    while text[end : end + 1].isspace():
        end += 1
    return begin, end


def _added(text: bytes, node: Node, addition: str) -> bytes:
    """A member more at the end of an object or a list, on a line of its own."""
    depth = _depth(node)
    members = _members(node)
    line = b"\n" + b"  " * depth + addition.encode()
    if members:
        at = members[-1].end_byte
        return text[:at] + b"," + line + text[at:]
    opening, closing = node.children[0].end_byte, node.children[-1].start_byte
    inside = text[opening:closing].rstrip()
    return text[:opening] + inside + line + b"\n" + b"  " * (depth - 1) + text[closing:]


def _depth(node: Node) -> int:
    depth, above = 1, node.parent
    while above is not None:
        depth += above.type in {"object", "array"}
        above = above.parent
    return depth


def _dumped(value: object, depth: int) -> str:
    return json.dumps(value, indent=2).replace("\n", "\n" + "  " * depth)


def _root(text: bytes) -> Node:
    try:
        tree = grammars.parse("json", text, limit_s=_LIMIT_S)
    except grammars.TooSlow:
        raise UsageError("the settings take too long to read: that is no file of settings") from None
    found = [each for each in tree.root_node.named_children if each.type != "comment"]
    if tree.root_node.has_error or len(found) != 1 or found[0].type != "object":
        raise UsageError("the settings are no JSON object", hint="Mend the file by hand, then again.")
    return found[0]


def _members(node: Node) -> list[Node]:
    return [each for each in node.named_children if each.type != "comment"]


def _comments(node: Node) -> list[Node]:
    return [each for each in node.named_children if each.type == "comment"]


def _pair(node: Node, key: str) -> Node:
    return next(each for each in _members(node) if _name(each) == key)


def _name(pair: Node) -> str:
    key = pair.child_by_field_name("key")
    return str(json.loads(_text(key))) if key is not None else ""


def _member(node: Node, key: str, kind: str) -> Node | None:
    found = [each for each in _members(node) if _name(each) == key]
    value = found[0].child_by_field_name("value") if found else None
    if len(found) > 1 or (value is not None and value.type != kind):
        raise UsageError(f"`{key}` in the settings is not one {kind}", hint="Mend the file by hand, then again.")
    return value


def _listed(hooks: Node) -> list[tuple[str, Node, Node, Any]]:
    """Each entry below `hooks`: its event, the list that it is in, its node, its value."""
    found = []
    for pair in _members(hooks):
        listed = pair.child_by_field_name("value")
        if listed is not None and listed.type == "array":
            found += [(_name(pair), listed, each, _value(each)) for each in _members(listed)]
    return found


def _value(node: Node) -> Any:
    """The value of a node; comments in it count for nothing."""
    match node.type:
        case "object":
            values = ((_name(each), each.child_by_field_name("value")) for each in _members(node))
            return {key: _value(value) for key, value in values if value is not None}
        case "array":
            return [_value(each) for each in _members(node)]
        case _:
            return json.loads(_text(node))


def _text(node: Node) -> bytes:
    return node.text or b""
