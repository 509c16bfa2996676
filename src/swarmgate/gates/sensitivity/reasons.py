"""Lists the reasons why a change is security-sensitive: its paths, imports, calls and names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from swarmgate.gates.project.files import UNREADABLE, Trait, Trust, language_of, traits_of
from swarmgate.gates.sensitivity.surrounding_code import Around
from swarmgate.gates.sensitivity.uses import LANGUAGES, Kind, Use, uses
from swarmgate.gates.source import behaviour
from swarmgate.workspace.code.grammars import TooSlow
from swarmgate.workspace.files import globs

if TYPE_CHECKING:
    from swarmgate.domain.review.change import ChangeSet
    from swarmgate.gates.sensitivity.definition import Patterns, SensitiveKind, Sensitivity
    from swarmgate.gates.source.file import SourceFile

_NEVER = frozenset({Trait.TEST, Trait.DOC, Trait.VENDORED, Trait.GENERATED, Trait.MINIFIED, Trait.LOCK})
_NO_CODE = {"css", "scss", "less", "json", "jsonl", "jsonc", "xml", "markdown", "rst", "text", ""}
"""Languages of files that hold no behaviour: a path alone does not make them sensitive."""
_LISTED = 20
"""So many reasons are given; the review reads the whole change anyway."""


def sensitive(
    definition: Sensitivity,
    change: ChangeSet,
    sources: Sequence[SourceFile],
    before: Mapping[str, bytes],
    *,
    is_test: Callable[[str], bool] = lambda _path: False,
) -> tuple[str, ...]:
    """Every reason, one for each file and kind, such as `src/db.py:14: calls sqlite3.connect (SQL)`; empty for none.

    Args:
        definition: what counts.
        change: what is judged.
        sources: its present files with their content.
        before: the base's content of its changed, renamed and deleted files, by their old path. What a removed line
            touched counts as well; a file that differs in comments and layout alone does not.
        is_test: whether a path is a test by the project's own globs; those never count.
    """
    reasons: list[str] = []
    for source in sources:
        if _counts(definition, source.path, source.trusted(Trust.DECLARED).traits, is_test):
            old = before.get(source.base_path, b"")
            if source.base_path and not behaviour.differs(source.path, old, source.content):
                continue
            removed = _removed(old, source.content)
            reasons += _of_file(
                definition, source.path, source.language, (source.content, source.added_lines), (old, removed)
            )
    for file in change.files:
        if not file.exists and _counts(definition, file.path, traits_of(file.path), is_test):
            old = before.get(file.path, b"")
            language = language_of(file.path, old)
            everything = range(1, old.count(b"\n") + 2)
            reasons += _of_file(definition, file.path, language, (b"", ()), (old, everything))
    return tuple(dict.fromkeys(reasons))[:_LISTED]


def _counts(definition: Sensitivity, path: str, traits: Collection[Trait], is_test: Callable[[str], bool]) -> bool:
    if is_test(path) or not _NEVER.isdisjoint(traits) or not (UNREADABLE - {Trait.LARGE}).isdisjoint(traits):
        return False
    return not any(globs.matches(path, glob) for glob in definition.excepted)


def _of_file(
    definition: Sensitivity,
    path: str,
    language: str,
    now: tuple[bytes, Collection[int]],
    was: tuple[bytes, Collection[int]],
) -> Iterator[str]:
    for kind in definition.kinds:
        if language not in _NO_CODE and (glob := kind.at(path)) and _meant(kind, path, language, now[0] or was[0]):
            yield f"{path}: path {glob} ({kind.title})"
    if language in LANGUAGES:
        found: dict[str, str] = {}
        for (content, lines), how in ((now, ""), (was, " before the change")):
            for title, why in _in_code(definition.kinds, path, language, content, lines):
                found.setdefault(title, f"{why}{how} ({title})")
        yield from found.values()


def _meant(kind: SensitiveKind, path: str, language: str, content: bytes) -> bool:
    """Whether a path that is sensitive by name alone is so by what the file says, where that can be read."""
    if not kind.doubts_path(path) or language not in LANGUAGES:
        return True
    try:
        around = Around(path, language, content)
        return kind.settled(around.everywhere) or any(map(kind.of(language).imported, around.modules))
    except TooSlow:
        return True


def _in_code(
    kinds: Sequence[SensitiveKind], path: str, language: str, content: bytes, lines: Collection[int]
) -> Iterator[tuple[str, str]]:
    """The title of each kind that the changed code touches, with where and how."""
    if not lines:
        return
    try:
        touched, modules = uses(path, language, content, frozenset(lines))
    except TooSlow as error:
        yield "unknown", f"{path}: cannot be read as {language} ({error})"
        return
    around = Around(path, language, content)
    for kind in kinds:
        patterns = kind.of(language)
        given = any(patterns.imported(module) for module in modules)
        for use in sorted(touched, key=lambda each: each.kind is Kind.IMPORT):  # a call says more than an import
            how = _how(kind, patterns, use, methods=given)
            if how and (not _doubtful(kind, patterns, use) or kind.settled(_context(use, around))):
                yield kind.title, f"{path}:{use.line}: {how}"


def _how(kind: SensitiveKind, patterns: Patterns, use: Use, *, methods: bool) -> str:
    """In which way a use is of this kind; empty if it is not."""
    match use.kind:
        case Kind.IMPORT if patterns.imported(use.name):
            return f"imports {use.name}"
        case Kind.CALL if patterns.called(use.name, methods=methods):
            return f"calls {use.name}"
        case Kind.FUNCTION if kind.defined(use.name):
            return f"changes {use.name}()"
        case Kind.NAME if patterns.named(use.name):
            return f"uses {use.name}"
    return ""


def _doubtful(kind: SensitiveKind, patterns: Patterns, use: Use) -> bool:
    return kind.doubts_function(use.name) if use.kind is Kind.FUNCTION else patterns.doubts(use.name)


def _context(use: Use, around: Around) -> Collection[str]:
    return around.everywhere if use.kind is Kind.IMPORT else around.at(use.line, use.end)


def _removed(old: bytes, new: bytes) -> list[int]:
    """The lines of `old`, from 1, that `new` holds fewer times; a moved line is none of them."""
    if not old:
        return []
    left, removed = Counter(new.split(b"\n")), []
    for number, line in enumerate(old.split(b"\n"), start=1):
        left[line] -= 1
        if left[line] < 0 and line.strip():
            removed.append(number)
    return removed
