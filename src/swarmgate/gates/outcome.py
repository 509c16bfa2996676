"""The output of a gate's scanner: its findings, or why it has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import Finding, Unchecked


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a scanner. At most one of `skip`, `failure` and `error` is set.

    `skip`: why nothing was looked at. `failure`: a verdict that is not about a place in a file. `error`: the tool is
    broken or did not do its work; with `missing` because it is not there, or too old, with `killed` because somebody
    ended it each time. `rules`: how many rules ran. `notes` are told in the result's reason. `volatile`: it depends on
    more than the change, swarmgate and what is installed (a build did it, or a tool that it looked for is not there),
    so it is never answered from the cache. `unchecked`: what it should have checked, and did not.
    """

    findings: tuple[Finding, ...] = ()
    files: int = 0
    tool: str = ""
    notes: tuple[str, ...] = ()
    skip: str = ""
    failure: str = ""
    error: str = ""
    missing: bool = False
    killed: bool = False
    rules: int = 0
    volatile: bool = False
    unchecked: tuple[Unchecked, ...] = ()
