"""Renders a gate report for the terminal: findings by file with their lines, then gates, counts and verdict.

Lines are made of pieces with a style each, so that a terminal may colour what a pipe gets plain.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import NOT_SELECTED, GateStatus, Severity, Standing
from swarmgate.domain.text.screen import PIPE, columns, wrapped
from swarmgate.gates.formats.escaping import flat, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from swarmgate.domain.review.finding import Finding, GateReport, GateResult
    from swarmgate.domain.text.screen import Piece, Screen

PATCH_LINES = 60
"""Of what was fixed, so many lines are shown; the report as JSON has more."""

_OF_A_RULE = 50
"""Of what blocks, so many findings of one rule are shown: more of a kind tells a reader nothing new."""

_INFORMING = 10
"""Of the new findings that do not block, so many are shown, the worst first; the count of the others is told."""

_CODE = 160
"""Columns for a line of code where nobody says how wide the terminal is."""

_SEVERITIES = {Severity.CRITICAL: "bold red", Severity.HIGH: "bold red", Severity.MEDIUM: "yellow"}
_STATUSES = {
    GateStatus.FAIL: "bold red", GateStatus.ERROR: "bold magenta", GateStatus.PASS: "green", GateStatus.SKIP: "dim",
}  # fmt: skip
_WORDS = {
    Standing.BLOCKS: "blocking", Standing.INFORMS: "informing", Standing.ACCEPTED: "accepted", Standing.OLD: "old",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the report. Where it is wrapped, it goes on `hang` columns from the left; `whole` ones never are."""

    pieces: tuple[Piece, ...] = ()
    hang: int = 2
    whole: bool = False

    @property
    def text(self) -> str:
        """Without style."""
        return "".join(text for text, _ in self.pieces)


def lines(report: GateReport, about: str = "", screen: Screen = PIPE) -> list[str]:
    """The whole report as text; the verdict, with what was not checked, is its last line.

    Gates that were not selected are left out, and of findings that stood there before the change only the count is
    told: the report as JSON has both.

    Args:
        report: what the gates said.
        about: what was judged; told first where it is known.
        screen: where it is shown.
    """
    return _rendered(_report(report, about, screen.width), screen)


def rejection(results: Sequence[GateResult], screen: Screen = PIPE) -> list[str]:
    """What these results are about: findings by file, with the code, then the gates."""
    return _rendered((*_findings(results, screen.width), *_gates(results)), screen)


def _rendered(lines: Iterable[Line], screen: Screen) -> list[str]:
    """The lines as text, wrapped between words where there is a width; one empty line at most follows another line."""
    text: list[str] = []
    for line in lines:
        if line.pieces or (text and text[-1]):
            width = 0 if line.whole else screen.width
            text += [screen.paint(pieces) for pieces in wrapped(line.pieces, width, line.hang)]
    return text


def row(result: GateResult, width: int = 0) -> Line:
    """One gate: its status, its findings by what they mean, its reason."""
    counts = Counter(result.standing(finding) for finding in result.findings)
    parts = [count] if (count := counted(counts)) else []
    parts += [f"fixed {len(result.fixed)}: {', '.join(result.fixed)}"] if result.fixed else []
    parts += [result.reason] if result.reason else []
    details = "  ".join(filter(None, ("; ".join(parts), "cached" * result.cached, "optional" * (not result.required))))
    head = f"{result.gate:<{width}}  "
    return Line(((f"{result.status:<5}", _STATUSES[result.status]), ("  ", ""), (head, "bold"), (flat(details), "")), 9)


def counted(counts: Mapping[Standing, int]) -> str:
    """Findings by what they mean: `2 blocking, 1 informing, 3 old`."""
    return ", ".join(f"{counts[each]} {word}" for each, word in _WORDS.items() if counts.get(each))


def _report(report: GateReport, about: str, width: int) -> Iterator[Line]:
    results = [result for result in report.results if result.reason != NOT_SELECTED]
    if about:
        yield from (_plain(f"judged: {flat(about)}"), Line())
    yield from _findings(results, width)
    for result in results:
        yield from _patch(result)
    yield from _gates(results)
    if report.notes:
        yield from (Line(), *(Line((("note: ", "yellow"), (flat(note), "")), 6) for note in report.notes))
    yield from (Line(), _plain(_count(report), "dim"))
    yield _plain(flat(report.summary), "bold red" if report.blocking else "bold green" if report.passed else "bold")


def _count(report: GateReport) -> str:
    found = sum(report.counts.values())
    head = f"{found} finding{'' if found == 1 else 's'}: {counted(report.counts)}" if found else "no findings"
    cached = sum(result.cached for result in report.results)
    from_cache = f", {cached} of {len(report.results)} gates cached" if cached else ""
    files = max((result.files for result in report.results), default=0)
    scanned = f"{files} file{'' if files == 1 else 's'} looked at, "
    return f"{head} ({scanned}{report.seconds * 1000:.0f} ms{from_cache}, tree {report.tree[:12]})"


def _gates(results: Sequence[GateResult]) -> Iterator[Line]:
    """What failed, what broke, and what has something to tell, a row each; then the quiet ones together."""
    loud = [result for result in results if not _quiet(result)]
    width = max((len(result.gate) for result in loud), default=0)
    yield from (row(result, width) for result in loud)
    quiet: dict[tuple[GateStatus, str], list[str]] = defaultdict(list)
    for result in results:
        if _quiet(result):
            quiet[result.status, result.reason].append(result.gate)
    for (status, reason), gates in sorted(quiet.items()):
        text = f"{', '.join(gates)}{f'  {flat(reason)}' if reason else ''}"
        yield Line(((f"{status:<5}", _STATUSES[status]), ("  ", ""), (text, "")), 7)


def _quiet(result: GateResult) -> bool:
    if result.findings or result.fixed or not result.required or any(each.asked for each in result.unchecked):
        return False
    return result.status is GateStatus.SKIP or (result.status is GateStatus.PASS and not result.reason)


def _patch(result: GateResult) -> list[Line]:
    patch = [line for line in result.patch.splitlines() if not line.startswith(("diff --git ", "index "))]
    excerpt = patch[:PATCH_LINES]
    more = len(patch) - len(excerpt)
    rest = [_plain(f"[... {more} more lines; all of it: --format json ...]")] if more else []
    styles = {"+": "green", "-": "red", "@": "cyan"}
    lines = [Line(((flat(line.expandtabs(4)), styles.get(line[:1], "")),), whole=True) for line in excerpt]
    return [_plain(f"{result.gate} changed:", "bold"), *lines, *rest, Line()] if excerpt else []


def _findings(results: Sequence[GateResult], width: int) -> Iterator[Line]:
    found = [(result, finding) for result in results for finding in result.findings]
    blocking = [each for each in found if each[0].standing(each[1]) is Standing.BLOCKS]
    informing = [each for each in found if each[0].standing(each[1]) is Standing.INFORMS]
    of_rule: Counter[str] = Counter()
    entries = []
    for each in blocking:
        of_rule[each[1].rule] += 1
        entries += [each] if of_rule[each[1].rule] <= _OF_A_RULE else []
    yield from _by_file(entries, width)
    yield from _more(len(blocking) - len(entries), "that block")
    informing.sort(key=lambda each: -each[1].severity.rank)
    if informing:
        yield from (_plain("These inform, and do not block:", "bold"), Line())
        yield from _by_file(informing[:_INFORMING], width)
        yield from _more(len(informing) - _INFORMING, "that inform")


def _more(count: int, what: str) -> list[Line]:
    return [_plain(f"and {count} more {what}: --format json lists them"), Line()] if count > 0 else []


def _by_file(found: Sequence[tuple[GateResult, Finding]], width: int) -> Iterator[Line]:
    files: dict[str, list[tuple[GateResult, Finding]]] = defaultdict(list)
    for each in found:
        files[each[1].path].append(each)
    for path in sorted(files):
        yield Line(((flat(path) or "the change as a whole", "bold"),))
        for result, finding in sorted(files[path], key=lambda each: (each[1].line, each[1].column)):
            yield from _finding(result, finding, width)
        yield Line()


def _finding(result: GateResult, finding: Finding, width: int) -> Iterator[Line]:
    place = ":".join(str(number) for number in (finding.line, finding.column) if number)
    also = f"; also seen by {', '.join(finding.also)}" if finding.also else ""
    yield Line(
        (
            (f"  {place} " if place else "  ", ""),
            (f"{finding.severity} ", _SEVERITIES.get(finding.severity, "cyan")),
            (flat(finding.rule), "bold"),
            (flat(f": {finding.message}"), ""),
            (flat(f" [{result.gate}{also}]"), "dim"),
        ),
        hang=4,
    )
    gutter = max(len(str(finding.line)), 2)
    if finding.code:
        yield from _code(finding, gutter, width)
    if finding.suggestion:
        yield Line(((f"  {'':{gutter}} = ", "blue"), ("fix: ", "green"), (flat(finding.suggestion), "")), gutter + 10)


def _code(finding: Finding, gutter: int, width: int) -> Iterator[Line]:
    """The line of code, with carets below the word that begins at the column, or below all of it."""
    code = finding.code
    first = min(finding.column - 1, len(code)) if finding.column else len(code) - len(code.lstrip())
    last = _end(code, first) if finding.column else len(code)
    before, marked, after = (visible(part.expandtabs(4)) for part in (code[:first], code[first:last], code[last:]))
    room = max((width or _CODE) - gutter - 5, 20)
    if columns(before + marked) > room and len(before) > room // 3:  # what the caret points at has to be seen
        before = f"…{before[-(room // 3) :]}"
    text, pad = _cut(visible(f"{before}{marked}{after}"), room), columns(before)
    carets = "^" * max(min(columns(marked), room - pad), 1)
    yield Line(((f"  {'':{gutter}} |", "blue"),), whole=True)
    yield Line(((f"  {finding.line:>{gutter}} | ", "blue"), (text, "")), whole=True)
    yield Line(((f"  {'':{gutter}} | ", "blue"), (f"{'':{pad}}{carets}", "bold red")), whole=True)


def _end(code: str, first: int) -> int:
    """Where the word ends that begins there; of what is no word, one character."""
    last = first
    while last < len(code) and (code[last].isalnum() or code[last] == "_"):
        last += 1
    return max(last, first + 1)


def _cut(text: str, room: int) -> str:
    """The beginning of a text, as much as fits in so many columns."""
    taken = list(accumulate(map(columns, text)))
    if not taken or taken[-1] <= room:
        return text
    return f"{text[: bisect_right(taken, room - 1)]}…"


def _plain(text: str, style: str = "") -> Line:
    return Line(((text, style),))
