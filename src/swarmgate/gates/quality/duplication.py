"""Finds duplicated code that the change adds: equal token runs in function bodies.

Identifiers count as they are, literals as one: copied code whose constants were changed is still a copy. Only function
bodies are looked at, so imports, declarations, tables and licence headers are none. A run counts when the tree has it
more often than the base had: moved code and copies that stood there before are none either. Of several new copies one
is the original.
"""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.gates.project.files import MAX_BYTES, Trait, language_of, traits_of
from swarmgate.gates.quality.functions import tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from swarmgate.gates.quality.functions import Code, Token

RUN = 50
"""Tokens of the shortest copy; about 6 lines, the default of jscpd and half of PMD's."""

WORDS = 8
"""Different identifiers and keywords that a run must have: a table or a row of like calls has fewer."""

LINES = 6
"""Lines of the shortest copy."""

_NEIGHBOURS = 400
"""As many files of the changed files' folders are searched for the lines of the change."""

_CLOSEST = 20
"""As many of them, those with most lines in common, are compared token by token."""

_TELLING = 12
"""Characters of a line that is looked for in other files."""


_ALONE = frozenset({"demo", "demos", "doc", "docs", "example", "examples", "playground", "sample", "samples"})


@dataclass(frozen=True, slots=True)
class Side:
    """A changed file: its path, its text, its functions and tokens, and the lines that the change brought in."""

    path: str
    text: str
    code: Code
    added: frozenset[int]


@dataclass(frozen=True, slots=True)
class Copy:
    """A block of added lines that stands elsewhere too."""

    path: str
    line: int
    end: int
    lines: int
    other: str
    other_line: int


def find(
    sides: Sequence[Side],
    neighbours: Callable[[set[str]], Mapping[str, bytes]],
    past: Callable[[], Iterable[Sequence[Token]]] = tuple,
) -> list[Copy]:
    """The copies among the added lines.

    Args:
        sides: the changed files that are no tests.
        neighbours: asked for the files of some folders, the changed ones left out, if there is anything to compare.
        past: asked for the tokens of the changed and deleted files in the base, if there is any copy.
    """
    bodies = {side.path: _bodies(side.code) for side in sides}
    worth = [side for side in sides if _enough(side, bodies[side.path])]
    if not worth:
        return []
    others = _closest(worth, neighbours({posixpath.dirname(side.path) for side in worth}))
    corpus = others | {side.path: side.code.tokens for side in sides}
    added = {side.path: side.added for side in sides}
    places: defaultdict[int, list[tuple[str, int]]] = defaultdict(list)
    wanted = {run for side in worth for run, _ in _runs(side.code.tokens, bodies[side.path], side.added)}
    for path, tokens in corpus.items():
        for run, start in _runs(tokens):
            if run in wanted:
                places[run].append((path, start))
    for found in places.values():  # what stood there before is the original, what the change wrote last is the copy
        found.sort(key=lambda place: corpus[place[0]][place[1]].line in added.get(place[0], ()))
    if all(len(found) < 2 for found in places.values()):  # noqa: PLR2004 - a place and its copy
        return []
    was = Counter(run for tokens in (*past(), *others.values()) for run, _ in _runs(tokens) if run in wanted)
    return [copy for side in worth for copy in _copies(side, corpus, places, was, bodies[side.path])]


def _copies(
    side: Side,
    corpus: Mapping[str, Sequence[Token]],
    places: Mapping[int, list[tuple[str, int]]],
    was: Counter[int],
    body: frozenset[int],
) -> Iterator[Copy]:
    """The blocks of lines of one file that are covered by copied runs."""
    tokens = side.code.tokens
    origin: dict[int, tuple[str, int]] = {}
    for run, start in _runs(tokens, body, side.added):
        here = places[run]
        excess = len(here) - max(was[run], 1)
        if excess <= 0 or (side.path, start) not in here[-excess:]:
            continue
        path, other = here[0]
        for offset in range(RUN):
            origin.setdefault(tokens[start + offset].line, (path, corpus[path][other + offset].line))
    block: list[int] = []
    for line in sorted({token.line for token in tokens}):  # comments and blank lines part no block
        if line in origin and line in side.added:
            block.append(line)
        else:
            yield from _block(side.path, block, origin)
            block = []
    yield from _block(side.path, block, origin)


def _block(path: str, lines: Sequence[int], origin: Mapping[int, tuple[str, int]]) -> Iterator[Copy]:
    if len(lines) >= LINES:
        yield Copy(path, lines[0], lines[-1], len(lines), *origin[lines[0]])


def _runs(
    tokens: Sequence[Token], within: frozenset[int] | None = None, touching: frozenset[int] = frozenset()
) -> Iterator[tuple[int, int]]:
    """A number for each run of tokens that equal runs share, and where it starts: at the beginning of a line."""
    texts = [_normal(token.text) for token in tokens]
    lines = [token.line for token in tokens]
    fits = None if within is None else _counted(lines, within)
    new = None if within is None else _counted(lines, touching)
    for start in range(len(texts) - RUN + 1):
        end = start + RUN
        if start and lines[start] == lines[start - 1]:
            continue
        if fits is not None and (fits[end] - fits[start] < RUN or new is None or new[end] - new[start] < RUN // 2):
            continue
        run = tuple(texts[start:end])
        if within is not None and len({text for text in run if text[0].isalpha() or text[0] in "_$@"}) < WORDS:
            continue
        yield hash(run), start


def _counted(lines: Sequence[int], among: frozenset[int]) -> list[int]:
    """How many of the first n tokens stand on these lines, for each n."""
    counts = [0]
    for line in lines:
        counts.append(counts[-1] + (line in among))
    return counts


def _normal(text: str) -> str:
    first = text[0]
    return "0" if first.isdigit() or first in "\"'`" else text


def _bodies(code: Code) -> frozenset[int]:
    """The lines inside functions, after the line on which their parameters end."""
    lines: set[int] = set()
    starts = {function.line: function.end for function in code.functions}
    opened, depth, seen = 0, 0, False
    for token in code.tokens:
        if token.line in starts and token.line != opened:
            opened, depth, seen = token.line, 0, False
        if not opened or seen:
            continue
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if token.text == ")" and depth <= 0:
            lines.update(range(token.line + 1, starts[opened] + 1))
            seen = True
    return frozenset(lines)


def _enough(side: Side, body: frozenset[int]) -> bool:
    fresh = side.added & body
    return len(fresh) >= LINES and sum(token.line in fresh for token in side.code.tokens) >= RUN


def _closest(worth: Iterable[Side], files: Mapping[str, bytes]) -> dict[str, tuple[Token, ...]]:
    """The tokens of the files that share most lines with what was added, of the same languages."""
    telling: defaultdict[str, set[bytes]] = defaultdict(set)
    for side in worth:
        lines = side.text.split("\n")
        stripped = (lines[number - 1].strip() for number in side.added if number <= len(lines))
        telling[language_of(side.path)].update(line.encode() for line in stripped if len(line) >= _TELLING)
    ranked = []
    for path, content in files.items():
        common = telling[language_of(path)].intersection(map(bytes.strip, content.split(b"\n")))
        if len(common) > 1:
            ranked.append((len(common), path))
    closest = sorted(ranked, key=lambda each: (-each[0], each[1]))[:_CLOSEST]
    return {path: tokens_of(path, files[path].decode("utf-8", "replace")) for _, path in closest}


def stands_alone(path: str) -> bool:
    """Whether a file is an example, in which repetition is fine."""
    return not _ALONE.isdisjoint(path.lower().split("/")[:-1])


def siblings(tree: Iterable[str], changed: set[str], folders: set[str], languages: set[str]) -> list[str]:
    """The files of some folders that are of these languages, no tests, and not among the changed ones."""
    barred = {Trait.TEST, Trait.VENDORED, Trait.GENERATED, Trait.LOCK}
    found = [
        path
        for path in tree
        if posixpath.dirname(path) in folders
        and path not in changed
        and language_of(path) in languages
        and not traits_of(path) & barred
    ]
    return found[:_NEIGHBOURS]


def small(contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files that a gate reads."""
    return {path: content for path, content in contents.items() if len(content) <= MAX_BYTES}
