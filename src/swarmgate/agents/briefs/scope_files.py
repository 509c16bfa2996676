"""Renders the files of a task's scope for a brief: small ones whole, big ones as an outline with line numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from swarmgate.agents.briefs.brief import bullets, cut
from swarmgate.domain.review.evidence import Remark
from swarmgate.errors import UsageError
from swarmgate.workspace.code.outline import Definition, definitions
from swarmgate.workspace.file_tools.files import FileTree

SCOPE_NOTE = "Small files whole, others by what they define and on which lines; that is their state before your turn."
"""What a brief says before `scope_text`."""

_SMALL_LINES, _SMALL_CHARS = 60, 4_000
"""A file of at most so much is shown whole."""

_ENTRIES = 60
"""Definitions of one file."""

_FILES, _WHOLE = 12, 16_000
"""Files that are shown, and characters of all together; the rest is named."""

_READ_SIZE = 400_000
"""Characters of a file whose outline is made."""


def scope_text(files: FileTree, scope: Iterable[str], remarks: Sequence[Remark] = ()) -> str:
    """The declared files: each whole or as an outline, with the places that the last rejection points at.

    Args:
        files: the work tree.
        scope: repository-relative paths.
        remarks: why the attempt before was rejected.
    """
    pointed: dict[str, set[int]] = defaultdict(set)
    for remark in remarks:
        if remark.file and remark.line:
            pointed[remark.file].add(remark.line)
    paths = tuple(dict.fromkeys(scope))
    parts: list[str] = []
    room = _WHOLE
    for path in paths[:_FILES]:
        part = _file(files, path, pointed)
        if len(part) > room:
            part = f"### {path}: no room left to show it"
        room -= len(part)
        parts.append(part)
    if more := paths[_FILES:]:
        parts.append("Further files:\n" + bullets(more))
    return "\n\n".join(parts)


def _file(files: FileTree, path: str, pointed: Mapping[str, set[int]]) -> str:
    try:
        if not files.resolve(path).exists():
            return f"### {path}: does not exist yet"
        text = files.read(path, limit=_READ_SIZE)
    except (UsageError, OSError) as error:
        return f"### {path}: {error}"
    lines = text.splitlines()
    if len(lines) <= _SMALL_LINES and len(text) <= _SMALL_CHARS:
        return f"### {path}, {len(lines)} lines, whole\n{text.rstrip()}"
    found = definitions(path, text)
    head = f"### {path}, {len(lines)} lines, by what it defines (read_file shows the lines)"
    here = sorted(pointed.get(path, ()))
    rendered = _chosen(found, here)
    listed = [_entry(each, here) for each in rendered]
    if left := len(found) - len(rendered):
        listed.append(f"and {left} more")
    if not found:
        listed = ["(what it defines is not known)", *(f"the rejection points at line {line}" for line in here)]
    return "\n".join([head, *listed])


def _chosen(found: Sequence[Definition], here: Sequence[int]) -> Sequence[Definition]:
    """At most `_ENTRIES`: those that the rejection points into first, then the outer before the inner ones."""
    if len(found) <= _ENTRIES:
        return found
    ranked = sorted(found, key=lambda each: (not _holds(each, here), each.depth, each.start))
    return sorted(ranked[:_ENTRIES], key=lambda each: (each.start, each.depth))


def _holds(each: Definition, lines: Iterable[int]) -> bool:
    return any(each.start <= line <= each.end for line in lines)


def _entry(each: Definition, here: Sequence[int]) -> str:
    inside = [str(line) for line in here if each.start <= line <= each.end]
    mark = f"  <- rejected at line {', '.join(inside[:5])}" if inside else ""
    return cut(f"{'  ' * each.depth}{each.start}-{each.end}  {each.signature}{mark}", 240, "...")
