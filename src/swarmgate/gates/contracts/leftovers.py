"""Finds what an agent made for itself and left behind: scripts that reproduce a bug, copies of files, rests."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from swarmgate.domain.review.change import ChangeSet

_REJECTS = re.compile(r"\.(?:orig|rej|bak|old|swp|tmp)$|~$")
"""What patch, editors and careful people leave beside a file."""
_ASIDE = re.compile(
    r"(?:reproduce|reproduction|repro|debug|scratch|demo_fix|try_fix|check_fix|verify_fix|verify_change|test_fix|"
    r"test_issue|test_reproduce|test_reproduction|test_manual|manual_test|simple_test|quick_test|final_test|"
    r"comprehensive_test|edge_case_test)(?:[_-]\w+)*\.\w+$",
    re.IGNORECASE,
)
"""How agents call what they try a change with."""
_REPORT = re.compile(
    r"(?:\w+[_-])?(?:fix|implementation|solution|change|changes|issue|bug)[_-]?(?:summary|report|notes|explanation|analysis)"
    r"\.(?:md|txt|rst)$|(?:SUMMARY|ANALYSIS|SOLUTION|FINDINGS)\.(?:md|txt)$",
    re.IGNORECASE,
)
"""How they call what they say of it."""
_PATCH = re.compile(r"\.(?:patch|diff)$")


def found(change: ChangeSet, before: Iterable[str], announced: str | None) -> Iterator[Finding]:
    """What was left behind, a finding each.

    Args:
        change: the change; only what it adds is looked at.
        before: the paths of the base. Where files of that kind lie beside it already, it is one of them.
        announced: the words of the task; what they name was asked for.
    """
    kinds = {(posixpath.dirname(path), reason) for path in before if (reason := _reason(path))}
    for file in change.present:
        reason = _reason(file.path) if not file.old_mode else ""
        name = posixpath.basename(file.path)
        if reason and (posixpath.dirname(file.path), reason) not in kinds and name not in (announced or ""):
            yield Finding(
                rule="leftover", path=file.path, severity=Severity.HIGH, message=f"{reason}, and no part of the work",
                suggestion="delete it; a test that is worth keeping stands among the tests, named by what it tests",
            )  # fmt: skip


def _reason(path: str) -> str:
    """What a file is by its path that nobody hands in; empty for any other."""
    folder, name = posixpath.split(path)
    if _REJECTS.search(name):
        return "a copy or rest of a file that a tool left"
    if folder:
        return ""
    if _ASIDE.match(name):
        return "a script to try something with, at the top of the repository"
    if _REPORT.match(name) or _PATCH.search(name):
        return "what was said or done about the work, at the top of the repository"
    return ""
