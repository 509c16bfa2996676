"""Analyses the API changes of a whole change set: what breaks, who uses it and was not updated; as findings.

A broken contract alone is low (it may be the very goal of the task) or, where callers go on working with another
result, info. Who in the project still uses the broken form is high: that code no longer works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.contracts import change as changes
from swarmgate.gates.contracts.impact import REMOVALS
from swarmgate.gates.project.files import language_of
from swarmgate.gates.project.index import Project
from swarmgate.gates.source import comparison
from swarmgate.gates.source.file import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from swarmgate.domain.review.change import ChangeSet
    from swarmgate.gates.cache.scan_results import Memory
    from swarmgate.gates.contracts.impact import Broken, Usage
    from swarmgate.gates.contracts.model import Break

USER_BROKEN = "contract-user-broken"

_FAMILIES = {
    "python": ("python",), "ecmascript": ("javascript", "typescript"), "go": ("go",), "rust": ("rust",),
    "java": ("java",),
}  # fmt: skip
_TEXT = 160
_NAMED = 3


class Family(Protocol):
    """A group of languages that share modules, with its API comparison."""

    unread: int

    def breaks(self) -> Iterator[Break]:
        """Every break, of private names too."""
        ...

    def impact(self, breaks: Sequence[Break]) -> tuple[dict[int, Usage], str]:
        """The usage of each break by its index, and a note where the search was cut short."""
        ...


def analyse(project: Project, change: ChangeSet, memory: Memory | None = None) -> tuple[list[Finding], list[str]]:
    """The findings of a change, and what could not be analysed; nothing is read where no source file lost code.

    Args:
        project: both sides.
        change: what is judged.
        memory: knows of pairs of files that nothing broke between them.
    """
    if not any(_relevant(file.path) or _relevant(file.old_path) for file in change.files if file.old_mode):
        return [], []
    findings: list[Finding] = []
    notes: list[str] = []
    for name, languages in _FAMILIES.items():
        pairs = changes.pairs(project, change, frozenset(languages))
        if not pairs or project.stopped():
            continue
        family = _family(name, project, pairs, memory)
        breaks = list(family.breaks())
        usage, note = family.impact(breaks) if breaks else ({}, "")
        changed = set(change.paths)
        for index, each in enumerate(breaks):
            findings += _contract(each, usage.get(index), changed)
        findings += _broken(breaks, usage)
        notes += [note] * bool(note)
        notes += [f"contracts of {family.unread} {name} files not read: they do not parse"] * bool(family.unread)
    return _marked(project, findings), notes


def _relevant(path: str) -> bool:
    return any(language_of(path) in languages for languages in _FAMILIES.values())


def _family(name: str, project: Project, pairs: list[SourceFile], memory: Memory | None) -> Family:
    if name == "python":
        from swarmgate.gates.contracts.python.change import PythonChange  # noqa: PLC0415 - late: another language

        return PythonChange(project, pairs, memory)
    from swarmgate.gates.contracts.trees.change import TreeChange  # noqa: PLC0415 - the same

    return TreeChange(name, project, pairs)


def _contract(each: Break, usage: Usage | None, changed: set[str]) -> Iterator[Finding]:
    users = sorted(usage.users) if usage else []
    if each.public:
        severity = Severity.INFO if each.soft else Severity.LOW
        # Of what is gone there is no more to say, where every user of it is told of by itself.
        places = {place.path for place in usage.broken} if usage else set()
        reported = each.rule in REMOVALS and bool(places) and set(users) <= places
        yield Finding(
            rule=each.rule,
            path=each.path,
            line=each.line,
            severity=severity,
            message=f"{_where(each)}: {each.detail}{_forms(each)}{_users(each, users, changed)}",
            suggestion=_SUGGESTIONS.get(each.rule, _KEEP),
            subject=_subject(each) if reported else "",
        )


def _broken(breaks: Sequence[Break], usage: dict[int, Usage]) -> Iterator[Finding]:
    """Each place once, beside the break that its words are about."""
    reported: dict[Broken, Break] = {}
    for index, used in usage.items():
        each = breaks[index]
        for place in used.broken:
            if place not in reported or (each.parameter and each.parameter == place.parameter):
                reported[place] = each
    for place, each in sorted(reported.items(), key=lambda item: item[0]):
        yield Finding(
            rule=USER_BROKEN, path=place.path, line=place.line, column=place.column, severity=Severity.HIGH,
            message=f"{place.how}; the change broke it: {each.detail} ({_place(each)})", subject=_subject(each),
            suggestion="update this place as well, or keep the old form working",
        )  # fmt: skip


def _subject(each: Break) -> str:
    return ".".join(filter(None, (each.unit, each.name)))


def _where(each: Break) -> str:
    if language_of(each.path) == "rust":
        return f"the contract of `{_rust_path(each)}` broke"
    name = ".".join(part for part in (each.unit.rpartition(":")[2].strip("."), each.name) if part)
    return f"the contract of `{name}` broke"


def _rust_path(each: Break) -> str:
    """`cli::escape::unescape`: the crate's folder, the modules below its `src`, the item."""
    folder, source, modules = f"/{each.unit}/".rpartition("/src/")
    crate = folder.rpartition("/")[2] if source else ""
    inside = modules.split("/") if source else each.unit.split("/")
    return "::".join(filter(None, (crate, *inside, *each.name.split(".")))) or each.unit


def _place(each: Break) -> str:
    return f"{each.path}:{each.line}" if each.line else each.path


def _forms(each: Break) -> str:
    if not each.name:
        return ""
    old = _short(each.old.text) if each.old and each.rule != "contract-removed" else ""
    new = _short(each.new.text) if each.new else ""
    return f" (was `{old}`, is `{new}`)" if old and new and old != new else ""


def _short(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[:_TEXT]}…"


def _users(each: Break, users: Sequence[str], changed: set[str]) -> str:
    if not users:
        return _unseen(each)
    left = [user for user in users if user not in changed]
    named = ", ".join(left[:_NAMED]) + (f" and {len(left) - _NAMED} more" if len(left) > _NAMED else "")
    files = "1 file uses it" if len(users) == 1 else f"{len(users)} files use it"
    return f"; {files}, {f'not changed with it: {named}' if left else 'changed with it'}"


def _unseen(each: Break) -> str:
    """That no user was seen, and what was not followed: silence is no proof where most users are of that kind."""
    language, member = language_of(each.path), "." in each.name
    method = member and each.old is not None and bool(each.old.calls)
    if method and language in {"go", "rust"}:
        return f"; who uses it is not known: methods of {language.capitalize()} are not followed"
    message = "; nothing else in the project was seen to use it"
    if language == "rust":
        return f"{message} (re-exports, `pub use`, and macros are not followed)"
    return f"{message} (only objects whose class is written beside them are followed)" if member else message


def _marked(project: Project, findings: list[Finding]) -> list[Finding]:
    """The findings with fingerprints, each once."""
    by_path: dict[str, list[Finding]] = {}
    for finding in dict.fromkeys(findings):
        by_path.setdefault(finding.path, []).append(finding)
    contents = project.head.contents(by_path)
    return [
        finding
        for path, each in by_path.items()
        for finding in comparison.fingerprint(SourceFile.of(path, "", content=contents.get(path, b"")), each)
    ]


_KEEP = "keep the old form working, or update every user and say so in the changelog"
_SUGGESTIONS = {
    "contract-removed": "keep the name as an alias that warns, or update every user and say so in the changelog",
    "contract-module-removed": "leave a module that imports the names from their new place",
    "contract-parameter-removed": "accept the parameter still, or update every caller",
    "contract-parameter-renamed": "accept the old name still, or update every caller that passes it by name",
    "contract-parameter-added-required": "give the new parameter a default",
    "contract-parameter-required": "keep its default",
    "contract-parameter-moved": "put new parameters last, or make them keyword-only",
    "contract-parameter-default-changed": "tell users: calls that leave it out do something else now",
    "contract-unexported": "put it back, or say so in the changelog",
    "contract-base-removed": "keep the base: `isinstance` and `except` rely on it",
}
