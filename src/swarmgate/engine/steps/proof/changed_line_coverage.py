"""Measures which share of the added lines of code the project's tests run, for `min_changed_line_coverage`.

Python's lines say themselves what ran, in one more run of the whole suite; so no coverage tool is needed, nor a report.
Other languages are read from the report that the test command leaves in its checkout, where it leaves one.
"""

from __future__ import annotations

from pathlib import Path

from swarmgate.domain.base import Frozen
from swarmgate.domain.review.change import ChangeSet
from swarmgate.domain.review.evidence import Remark
from swarmgate.domain.review.finding import Severity
from swarmgate.engine.context import Context
from swarmgate.engine.steps.proof.objections import listed
from swarmgate.engine.steps.proof.proof_runs import Runs, is_product_code
from swarmgate.gates.quality import coverage
from swarmgate.gates.quality.coverage import Covered
from swarmgate.gates.source import loading
from swarmgate.workspace.code import python_changes

_FILES, _LINES = 10, 10
_TEST_THEM = "Write tests that run these lines and check what they do."


class ChangedLines(Frozen):
    """How many added lines of code are known and how many of them ran; `missed` has the others by file.

    `note` says what of the change was not measured, and why.
    """

    known: int = 0
    ran: int = 0
    missed: tuple[tuple[str, tuple[int, ...]], ...] = ()
    note: str = ""

    @property
    def text(self) -> str:
        """`3 of 4 added lines ran (75%)`."""
        return f"{self.ran} of {self.known} added lines ran ({self.ran / self.known:.0%})" if self.known else self.note

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """A remark for each file with lines that did not run."""
        return tuple(
            Remark(
                severity=Severity.HIGH,
                message=f"No test runs lines {', '.join(map(str, lines[:_LINES]))}{' ...' if lines[_LINES:] else ''}.",
                file=path,
                line=lines[0],
                suggestion=_TEST_THEM,
            )
            for path, lines in self.missed[:_FILES]
        )


async def measure(ctx: Context, change: ChangeSet, runs: Runs) -> ChangedLines:
    """Runs the whole suite once more, over the change as its lines say what ran.

    Raises:
        WorkspaceError: a copy could not be made.
    """
    sources = [each for each in loading.load(ctx.repository, change) if not each.is_test and each.added_lines]
    product = {file.path for file in change.present if is_product_code(file, ctx.is_test_path)}
    own = [each for each in sources if each.path in product]
    if not own:
        return ChangedLines()
    probed = [
        made
        for number, each in enumerate(own)
        if each.language == "python"
        if (made := python_changes.probed(each.path, each.now.content, each.added_lines, number))
    ]
    reported: list[Covered] = []
    others = [each for each in own if each.path not in {made.path for made in probed}]

    def look(root: Path) -> None:
        reported.append(coverage.of(root, others) if others else Covered())

    ran = await runs.measured(probed, look)
    if not ran.run.green:
        return ChangedLines(note=f"the coverage was not measured: {ran.run.reason}")
    units = [unit for each in probed for unit in each.units]
    left = [unit for unit in units if unit.left_by(ran.hits)]
    if units and ran.doubt and not ran.hits:
        return ChangedLines(note=f"the coverage was not measured: {ran.doubt}")
    seen = reported[0] if reported else Covered()
    mine = {path: tuple(sorted({u.line for u in left if u.path == path})) for path in {u.path for u in left}}
    return ChangedLines(
        known=len(units) + seen.known,
        ran=len(units) - len(left) + seen.ran,
        missed=(*sorted(mine.items()), *seen.missed),
        note=f"{listed(tuple(each.path for each in others))}: {seen.note}" if seen.note else "",
    )
