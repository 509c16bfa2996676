"""Compares the measurements of a change with the quality budget's limits and reports what exceeds them."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.quality import (
    complexity,
    coverage,
    duplication,
    functions,
    proportion,
    public_api,
    rewording,
    sizes,
)
from swarmgate.gates.quality import suppressions as silenced
from swarmgate.gates.quality.duplication import Side

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from swarmgate.config import Quality
    from swarmgate.gates.quality.complexity import Grown
    from swarmgate.gates.quality.functions import Code, Token
    from swarmgate.gates.quality.revisions import Change
    from swarmgate.gates.source.file import SourceFile

NAMED = 5
"""As many public names or functions are named in one message; the others are counted."""

FAR = 2
"""So many times the default blocks, of sizes. What is less informs."""

FAR_NEW = 4
"""So many times the default a new function blocks, which is beyond 25. Of 630 new functions of eight well-kept projects
11 are beyond 10, four beyond 15, two beyond 20 and one beyond 25: reviewers take those, so only the rarest block.
So many times the default of public names block, too: a new part of a project has some dozens of them."""

SMALL = 50
"""Added lines of code below which a change is small: of it, suppressions and a lack of tests inform by default."""

COPIED = 100
"""Copied lines from which on the default blocks: as many as a function may have. Overloads and translations of one
table are copies by their nature."""

FLOOR = 10
"""Copied lines below which a share says nothing: in a small change every line is a large share."""


@dataclass
class Measured:
    """The measurements of a change: findings, and the numbers for the report."""

    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, rule: str, path: str, line: int, message: str, severity: Severity = Severity.MEDIUM) -> None:
        """One more finding, with the advice of its rule."""
        found = Finding(rule=rule, path=path, line=line, severity=severity, message=message, suggestion=_MEND[rule])
        self.findings.append(found)


def compare(
    change: Change,
    limits: Quality,
    *,
    root: Path,
    tested: bool,
    in_run: bool = False,
    neighbours: Callable[[set[str]], Mapping[str, bytes]],
    stopped: Callable[[], bool] = lambda: False,
) -> Measured:
    """Measure the change and compare it with each limit.

    Args:
        change: both sides of it.
        limits: None for what is not to be judged.
        root: the work tree, where a coverage report may lie.
        tested: whether the tests for the change are written, so that too few of them block.
        in_run: whether swarmgate itself runs the tests afterwards, and measures the coverage then.
        neighbours: the files beside the changed ones, by folder, read when something has to be compared with them.
        stopped: whether the time is up; what was not measured by then is left out.
    """
    result = Measured()
    summed = _may_add_up(change, limits)
    codes = {
        file.path: functions.measure(file.path, file.now.text)
        for file in change.product
        if (summed or _may_cost(file, change.fresh[file.path], limits)) and not stopped()
    }
    broken = [path for path, code in codes.items() if code.broken]
    if broken:
        result.notes.append(f"lizard cannot read {_few(broken)}: neither functions nor copies were measured there")
    base = Base(change)
    grown = _grown(codes, base, change, limits)
    _complexity(result, grown, limits)
    if summed and not stopped():
        _sum_of_complexity(result, change, codes, base, limits.max_complexity_delta or 0)
    _sizes(result, change, grown, limits)
    if limits.max_public_api_delta is not None and not stopped():
        _public_api(result, change, limits, limits.max_public_api_delta)
    if limits.max_duplication_ratio is not None and not stopped():
        _duplication(result, change, codes, base, limits, neighbours)
    if not stopped():
        code, tests = proportion.added_lines(change)
        _suppressions(result, change, limits, small=code < SMALL)
        _reworded(result, change)
        _tests(result, change, limits, code, tests, tested=tested)
    if limits.min_changed_line_coverage is not None and in_run:
        result.notes.append("the coverage of the added lines is measured once the tests have passed")
    elif limits.min_changed_line_coverage is not None:
        _coverage(result, change, root, limits.min_changed_line_coverage)
    return result


_BRANCH = re.compile(
    r"\b(?:if|elif|elsif|elseif|ifelse|unless|for|foreach|while|until|do|loop|repeat|case|when|given|default|guard|match|"
    r"switch|where|try|trycatch|catch|except|rescue|ensure|finally|orelse|and|or|xor|not)\b|[&|?]|=>|->",
    re.IGNORECASE,
)
"""Whatever one of lizard's readers may count as a decision, and more."""


def _may_cost(file: SourceFile, fresh: frozenset[int], limits: Quality) -> bool:
    """Whether the new lines of a file could exceed a limit that takes lizard to see: most edits are too few."""
    if limits.max_duplication_ratio is not None and len(fresh) >= duplication.LINES:
        return True
    if limits.max_function_lines is not None and len(fresh) > limits.max_function_lines * sizes.SHARE:
        return True
    return limits.max_complexity_delta is not None and _branches(file, fresh) > limits.max_complexity_delta


def _may_add_up(change: Change, limits: Quality) -> bool:
    """Whether a limit of the user's holds for the whole change, and its new lines could exceed it together."""
    limit = limits.max_complexity_delta if _is_set(limits, "max_complexity_delta") else None
    return limit is not None and sum(_branches(each, change.fresh[each.path]) for each in change.product) > limit


def _branches(file: SourceFile, fresh: frozenset[int]) -> int:
    lines = file.now.text.split("\n")
    return sum(len(_BRANCH.findall(lines[number - 1])) for number in fresh)


class Base:
    """The code of the base, measured when it is asked for, under the paths that the files have now."""

    def __init__(self, change: Change) -> None:
        past = (*change.product, *(file for file in change.deleted if not file.is_test))
        self._files = {file.path: file for file in past if file.was.content}
        self._codes: dict[str, Code] = {}

    def code(self, path: str) -> Code:
        """One file's functions and tokens; none of an added file."""
        if path not in self._codes:
            file = self._files.get(path)
            self._codes[path] = functions.measure(path, file.was.text) if file else functions.Code()
        return self._codes[path]

    def tokens(self) -> list[tuple[Token, ...]]:
        """The tokens of each file."""
        return [self.code(path).tokens for path in self._files]


def _grown(codes: Mapping[str, Code], base: Base, change: Change, limits: Quality) -> list[Grown]:
    """The functions of files where one may be over a limit, compared with the base; most changes need no look at it."""
    rise = limits.max_complexity_delta if limits.max_complexity_delta is not None else sys.maxsize
    length = limits.max_function_lines if limits.max_function_lines is not None else sys.maxsize
    touched = complexity.compare(codes, {}, change.fresh)
    suspects = {each.function.path for each in touched if each.branches > rise or each.function.length > length}
    return complexity.compare(
        {path: codes[path] for path in codes if path in suspects},
        {path: base.code(path) for path in suspects},
        change.fresh,
    )


def _is_set(limits: Quality, name: str) -> bool:
    """Whether a user set a limit: then all that is beyond it blocks, and not what is far beyond alone."""
    return name in limits.model_fields_set


def _complexity(result: Measured, grown: list[Grown], limits: Quality) -> None:
    limit, strict = limits.max_complexity_delta, _is_set(limits, "max_complexity_delta")
    for each in grown:
        if limit is not None and each.cost > limit:
            message = f"{each.story}: +{each.cost}, where a change may add {limit} to a function"
            allowed = f" and {complexity.ALLOWANCE} are free for a new one" if each.old is None else ""
            # Of agents' wrong patches 6% make a simple old function grow so, of right ones 1% (docs/evaluation.md).
            far = not each.was_complex and (each.old is not None or each.cost > limit * FAR_NEW)
            severity = Severity.MEDIUM if strict or far else Severity.LOW
            result.add("complexity", each.function.path, each.function.line, message + allowed, severity)


def _sum_of_complexity(result: Measured, change: Change, codes: Mapping[str, Code], base: Base, limit: int) -> None:
    gone = {file.path: functions.Code() for file in change.deleted if not file.is_test}
    added = complexity.points({**gone, **codes}, base.code)
    total = sum(added.values())
    result.notes.append(f"complexity {total:+d}")
    if total > limit:
        largest = sorted(added, key=lambda path: -added[path])
        files = _few([f"{path} {added[path]:+d}" for path in largest if added[path]])
        message = f"complexity +{total} in sum, where one task may add {limit}: {files}"
        result.add("complexity-sum", largest[0], 0, message)


def _sizes(result: Measured, change: Change, grown: list[Grown], limits: Quality) -> None:
    if limits.max_function_lines is not None:
        for each in sizes.long_functions(grown, limits.max_function_lines):
            was = f"{each.old.length} -> " if each.old else ""
            message = (
                f"{each.function.name} ({was}{each.function.length} lines of code, limit {limits.max_function_lines})"
            )
            far = each.function.length > limits.max_function_lines * FAR
            severity = Severity.MEDIUM if far or _is_set(limits, "max_function_lines") else Severity.LOW
            result.add("function-size", each.function.path, each.function.line, message, severity)
    if limits.max_file_lines is not None:
        for file, lines, now in sizes.long_files(change, limits.max_file_lines):
            grew = f"{lines} -> " if lines else ""
            far = now > limits.max_file_lines * FAR and len(change.fresh[file.path]) > limits.max_file_lines
            severity = Severity.MEDIUM if far or _is_set(limits, "max_file_lines") else Severity.LOW
            result.add("file-size", file.path, 0, f"{grew}{now} lines, limit {limits.max_file_lines}", severity)


def _public_api(result: Measured, change: Change, limits: Quality, limit: int) -> None:
    added, removed = public_api.delta(change.product, [file for file in change.deleted if not file.is_test])
    delta = len(added) - len(removed)
    if added or removed:
        result.notes.append(f"public names {delta:+d}")
    if delta > limit:
        less = f", {len(removed)} removed" if removed else ""
        names = _few([name for name, _ in added])
        message = f"{len(added)} public names added{less}, where a change may add {limit}: {names}"
        far = delta > limit * FAR_NEW or _is_set(limits, "max_public_api_delta")
        result.add("public-api", added[0][1], 0, message, Severity.MEDIUM if far else Severity.LOW)


def _duplication(
    result: Measured,
    change: Change,
    codes: Mapping[str, Code],
    base: Base,
    limits: Quality,
    neighbours: Callable[[set[str]], Mapping[str, bytes]],
) -> None:
    sides = [
        Side(file.path, file.now.text, codes[file.path], change.fresh[file.path])
        for file in change.product
        if file.path in codes and not duplication.stands_alone(file.path)
    ]
    copies = duplication.find(sides, neighbours, base.tokens)
    # Where lizard was not asked, comments count as well: few lines at most.
    added = sum(len(side.added & {token.line for token in side.code.tokens}) for side in sides)
    added += sum(len(change.fresh[file.path]) for file in change.product if file.path not in codes)
    lines = sum(each.lines for each in copies)
    if lines:
        result.notes.append(f"copies {lines / added:.0%} of {added} added lines")
    limit = limits.max_duplication_ratio or 0.0
    blocks = lines >= COPIED or _is_set(limits, "max_duplication_ratio")
    if lines >= FLOOR and lines / added > limit:
        for each in copies:
            message = (
                f"{each.lines} lines are a copy of {each.other}:{each.other_line}; {lines} of {added} added lines are"
            )
            message = f"{message} copies ({lines / added:.0%}, limit {limit:.0%})"
            result.add("duplication", each.path, each.line, message, Severity.MEDIUM if blocks else Severity.LOW)


def _suppressions(result: Measured, change: Change, limits: Quality, *, small: bool) -> None:
    limit, strict = limits.max_new_suppressions, _is_set(limits, "max_new_suppressions")
    found = silenced.added(change.files, change.deleted)
    for each in found:
        result.add("suppression", each.path, each.line, f"a new suppression: {each.text}", Severity.INFO)
    if found:
        result.notes.append(silenced.summary(found))
    tests = {file.path for file in change.files if file.is_test}
    counted = [each for each in found if each.path not in tests]
    for each in counted:
        if silenced.whole_file(each):
            message = f"a whole file is silenced, and for no rule in particular: {each.text}"
            result.add("suppression-of-file", each.path, each.line, message)
    if not strict and limits.min_changed_line_coverage is None:
        counted = [each for each in counted if each.kind not in silenced.OF_COVERAGE]
    if limit is not None and len(counted) > limit:
        message = f"{silenced.summary(counted)}, where a change may add {limit}"
        others = silenced.not_adopted(counted, change.adopted)
        informs = not strict and (small or len(others) <= limit)
        severity = Severity.LOW if informs else Severity.MEDIUM
        result.add("suppressions", counted[0].path, counted[0].line, message, severity)


def _tests(result: Measured, change: Change, limits: Quality, code: int, tests: int, *, tested: bool) -> None:
    limit, strict = limits.min_test_to_code_ratio, _is_set(limits, "min_test_to_code_ratio")
    if limit is None or code < proportion.FLOOR or tests >= code * limit:
        return
    place = max(change.product, key=lambda file: len(file.added_lines))
    message = f"{tests} lines of tests for {code} of code ({tests / code:.2f}, at least {limit:g})"
    blocks = tested and (strict or code >= SMALL)
    result.add("test-ratio", place.path, 0, message, Severity.MEDIUM if blocks else Severity.LOW)


def _reworded(result: Measured, change: Change) -> None:
    """Words about code that the change leaves alone: rewritten from memory, they lose what they said."""
    for each in (each for file in change.product for each in rewording.found(file)):
        message = f"{each.name} does what it did, and {each.lost} lines of its words are gone or said otherwise"
        result.add("reworded", each.path, each.line, message, Severity.LOW)


def _coverage(result: Measured, change: Change, root: Path, limit: float) -> None:
    seen = coverage.of(root, change.product)
    if seen.note:
        result.notes.append(seen.note)
    elif not seen.known:
        result.notes.append(f"{seen.report} knows none of the added lines")
    else:
        result.notes.append(f"{seen.ran} of {seen.known} added lines ran ({seen.report})")
        if seen.ran < seen.known * limit:
            for path, lines in seen.missed:
                message = f"lines {_few([str(line) for line in lines], 10)} never ran; {seen.ran / seen.known:.0%} of"
                result.add(
                    "coverage", path, lines[0], f"{message} the added lines did, at least {limit:.0%} are asked for"
                )


def _few(names: list[str], limit: int = NAMED) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


_MEND = {
    "complexity": "split it: one function for each thing it does, a table for like cases",
    "complexity-sum": "do it with fewer branches, or split it; the user may overrule it, or raise max_complexity_delta",
    "function-size": "split it where its parts have names",
    "file-size": "move what belongs together into a file of its own",
    "public-api": "keep what nobody else needs private (underscore, no export), or split the task",
    "duplication": "call the one that is there, or move what both need to where both can reach it",
    "suppression": "",
    "suppression-of-file": "mend what the tools complain of, or name the rule, at the line that it is about",
    "suppressions": "mend what the tools complain of instead of silencing them",
    "reworded": "put it back: the change is about other code; who wants the words mended makes a task of it",
    "test-ratio": "test what the change does",
    "coverage": "test these lines, and write the report again",
}
