"""Analyses all tests of a change and decides which weakenings block."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.source import comparison
from swarmgate.gates.source.file import SourceFile
from swarmgate.gates.test_integrity import runners, special_cases, task_request
from swarmgate.gates.test_integrity.change import Change, files_of
from swarmgate.gates.test_integrity.comparison import compare
from swarmgate.gates.test_integrity.matching import match
from swarmgate.gates.test_integrity.suites.model import Rule, Weakening

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from swarmgate.domain.review.change import ChangeSet
    from swarmgate.gates.project.index import Project

_SEVERITIES = {
    Severity.HIGH: (Rule.REMOVED, Rule.OFF, Rule.FOCUSED, Rule.ASSERTION, Rule.IDLE, Rule.HOOK, Rule.SETTINGS),
    Severity.MEDIUM: (Rule.WEAKER, Rule.EXPECTED, Rule.ROWS, Rule.MOCKED, Rule.SPECIAL, Rule.COMMAND, Rule.SNAPSHOT),
    Severity.LOW: (Rule.GUARDED, Rule.NEW_OFF, Rule.REWRITTEN),
}
_SEVERITY_OF = {rule: severity for severity, rules in _SEVERITIES.items() for rule in rules}
_WITH_CODE = frozenset({Rule.REMOVED, Rule.ASSERTION, Rule.ROWS, Rule.WEAKER, Rule.REWRITTEN})
"""What goes when the code goes that it was about."""

_BY_BEHAVIOUR = frozenset({Rule.EXPECTED, Rule.SNAPSHOT})
"""What the product may have changed on purpose: nobody can know, so it informs where the product changed as well."""

_MANY = 3


def analyse(project: Project, change: ChangeSet, announced: str | None = None) -> tuple[list[Finding], list[str]]:
    """The findings of a change, and what could not be analysed.

    Args:
        project: both sides.
        change: what is judged.
        announced: the words of the task; None where there is none.
    """
    seen = Change(project, files_of(project, change))
    found = dict.fromkeys((*_of_tests(seen), *runners.found(seen), *special_cases.found(seen)))
    judged = [(each, _severity(each, seen, announced)) for each in found]
    findings = [_finding(each, severity, seen) for each, severity in _grouped(judged)]
    notes = [f"tests not compared, their grammar did not end in time: {', '.join(sorted(set(seen.unread)))}"]
    return _marked(project, findings), notes if seen.unread else []


def _of_tests(seen: Change) -> Iterator[Weakening]:
    if not (seen.old or seen.new):
        return
    yield from compare(match(seen.old, seen.new, seen.moved))
    before = {suite.path: len(suite.only) for suite in seen.old}
    places = {now: was for was, now in seen.moved.items()}
    for suite in seen.new:
        if len(suite.only) > before.get(places.get(suite.path, suite.path), 0):
            yield Weakening(Rule.FOCUSED, suite.path, suite.only[-1], "", "all other tests are switched off by `only`")


def _grouped(found: Iterable[tuple[Weakening, Severity]]) -> Iterator[tuple[Weakening, Severity]]:
    """Many tests of one file that went the same way are one fact."""
    groups: defaultdict[tuple[Rule, str, Severity], list[Weakening]] = defaultdict(list)
    for one, severity in found:
        groups[one.rule, one.path, severity].append(one)
    for (rule, path, severity), many in groups.items():
        if len(many) <= _MANY or rule not in {Rule.REMOVED, Rule.OFF, Rule.GUARDED}:
            yield from ((each, severity) for each in many)
        else:
            message = f"{len(many)} tests of this file: {many[0].message}"
            names = " ".join(each.test for each in many)
            yield Weakening(rule, path, many[0].line, names, message, many[0].about, many[0].same_place), severity


def _severity(each: Weakening, seen: Change, announced: str | None) -> Severity:
    severity = _SEVERITY_OF[each.rule]
    if severity.rank < Severity.MEDIUM.rank:
        return severity
    if task_request.allows(announced, each):
        return Severity.INFO
    refactoring = announced is not None and task_request.kind_of(announced) == "refactoring"
    if each.rule in _BY_BEHAVIOUR and seen.behaves and (not refactoring or seen.follows(*each.values)):
        return Severity.LOW
    if each.rule not in _WITH_CODE:
        return severity
    if seen.lost(each.about):
        return Severity.INFO
    return Severity.LOW if announced is None and _taken(each, seen) else severity


def _taken(each: Weakening, seen: Change) -> list[str]:
    """What the change took away or edited that a test may have been about."""
    if each.rule is Rule.REMOVED and (deleted := seen.deleted_for(each.path)):
        return [deleted]
    inside = seen.inside(each.about) if each.rule in {Rule.ASSERTION, Rule.WEAKER} else []
    return inside or seen.taken(each.about, each.same_place)


def _finding(each: Weakening, severity: Severity, seen: Change) -> Finding:
    text, rule = each.message, each.rule
    if each.rule in _WITH_CODE and severity is Severity.INFO and (lost := seen.lost(each.about)):
        text = f"{text}, with `{lost[0]}`, which it was about"
        rule = Rule.REMOVED_WITH_CODE if each.rule is Rule.REMOVED else rule
    elif each.rule in _WITH_CODE and severity is Severity.LOW and (taken := _taken(each, seen)):
        text = f"{text}; the change takes away or edits code of `{taken[0]}` as well, and no task says what is meant"
    exists = any(file.path == each.path for file in seen.files)
    return Finding(
        rule=rule.value, path=each.path, line=each.line if exists else 0, severity=severity, message=text,
        suggestion=_MEND if severity.rank >= Severity.MEDIUM.rank else "",
    )  # fmt: skip


_MEND = "keep the test as strong as it was and mend the code; a task that says so may change tests"


def _marked(project: Project, findings: Sequence[Finding]) -> list[Finding]:
    by_path: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in dict.fromkeys(findings):
        by_path[finding.path].append(finding)
    contents = project.head.contents(list(by_path)) if by_path else {}
    return [
        each
        for path, listed in by_path.items()
        for each in comparison.fingerprint(SourceFile.of(path, content=contents.get(path, b"")), listed)
    ]
