"""Mutation testing of the changed lines: inserts one small fault at a time and expects a test to fail.

Everything happens in a copy of the project. Bounded in time: past the bound a sample is tested, and said to be one.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from swarmgate.domain.base import Frozen
from swarmgate.domain.review.change import ChangeSet
from swarmgate.domain.review.evidence import Mutants, Remark, TestRun
from swarmgate.domain.review.finding import Severity
from swarmgate.engine.context import Context
from swarmgate.engine.steps.proof.proof_runs import is_product_code
from swarmgate.errors import MissingRequirement
from swarmgate.gates.project.files import language_of
from swarmgate.gates.source.behaviour import is_code
from swarmgate.workspace.checkout.checkout import Checkout
from swarmgate.workspace.code.mutants import Mutant, available, evenly, mutants
from swarmgate.workspace.test_runs.suites import Suites

_MOST = 100
"""As many mutants are tested at most."""
_BOUND_S = 900.0
"""Seconds for all of them; the one under test is finished."""
_LEAST_S, _PATIENCE = 10.0, 5.0
"""A mutant that runs for ever is one that was noticed: seconds, and times the suite's own time, until it is that."""
_LISTED = 10


class Mutation(Frozen):
    """The result: `tested` mutants of `total`; `survived` are diffs of those that no test noticed.

    `notes` say what was not done, and why.
    """

    total: int = 0
    tested: int = 0
    survived: tuple[Remark, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> Mutants:
        """The same in numbers, as the ledger has it."""
        return Mutants(total=self.total, tested=self.tested, survived=len(self.survived))


def require() -> None:
    """Makes sure that the library is there.

    Raises:
        MissingRequirement: it is not.
    """
    if not available():
        raise MissingRequirement(
            "[tests] mutation = true needs the package cosmic-ray, which is not installed.",
            hint="pip install cosmic-ray, in swarmgate's environment (with pipx: pipx inject swarmgate cosmic-ray), "
            "or set mutation = false in .swarm/config.toml; then: swarm run",
        )


async def mutate(ctx: Context, change: ChangeSet, suites: Suites, ran: TestRun, tests: tuple[str, ...]) -> Mutation:
    """Tests the mutants of the lines that the change added to Python code.

    Args:
        ctx: the context of the step.
        change: the whole change of the attempt, which the tests passed.
        suites: what the change is tested by.
        ran: the run of the whole suite over it.
        tests: the new test files that can be run alone: they are asked first, as they are faster.

    Raises:
        MissingRequirement: the library is not installed.
        WorkspaceError: the copy could not be made.
    """
    require()
    total, found, notes = _found(ctx, change)
    if not found:
        return Mutation(notes=notes)
    limit = min(suites.timeout_s, _LEAST_S + _PATIENCE * ran.seconds)

    async def run(copy: Checkout, paths: tuple[str, ...], timeout_s: float) -> TestRun:
        return await suites.run(copy.runner(ctx.commands), paths, limit_s=timeout_s)

    with ctx.checkout(change.tree) as copy:
        whole = await run(copy, (), suites.timeout_s)
        if problem := _unfit(copy, whole):
            return Mutation(total=total, notes=(*notes, f"no mutants were tested: {problem}"))

    async def survives(mutant: Mutant) -> bool:
        with ctx.checkout(change.tree) as copy:  # of its own: what tests left in one may be a link to anywhere
            (copy.root / mutant.path).write_text(mutant.content, encoding="utf-8", newline="")
            for paths in (tests, ()) if tests else ((),):
                if not (await run(copy, paths, limit)).green:
                    return False
        return True

    survived, tested = await _tested(found, survives)
    if tested < total:
        notes = (*notes, f"{tested} of {total} mutants were tested, taken evenly: more would have taken too long")
    return Mutation(total=total, tested=tested, survived=tuple(map(_remark, survived)), notes=notes)


async def _tested(found: list[Mutant], survives: Callable[[Mutant], Awaitable[bool]]) -> tuple[list[Mutant], int]:
    """Those of the mutants that survive, and how many were tested until the time was over."""
    ends, survived, tested = time.monotonic() + _BOUND_S, [], 0
    for mutant in found:
        if time.monotonic() > ends:
            break
        if await survives(mutant):
            survived.append(mutant)
        tested += 1
    return survived, tested


def _found(ctx: Context, change: ChangeSet) -> tuple[int, list[Mutant], tuple[str, ...]]:
    """How many mutants the change has, those that are tested, and which files have none."""
    code = [file for file in change.present if file.added and is_code(file.path)]
    product = [file for file in code if is_product_code(file, ctx.is_test_path)]
    other = [file.path for file in product if language_of(file.path) != "python"]
    total = 0
    found: list[Mutant] = []
    for file in product:
        content = ctx.repository.read(change.tree, file.path)
        if file.path in other or content is None:
            continue
        text = content.decode("utf-8", errors="replace")
        if text.encode() == content:
            count, made = mutants(file.path, text, frozenset(file.added_lines), most=_MOST)
            total += count
            found += made
    notes = (f"no mutants of {', '.join(other[:3])}: only Python code is mutated",) if other else ()
    return total, _interleaved(evenly(found, _MOST)), notes


def _interleaved(found: list[Mutant]) -> list[Mutant]:
    """In an order in which every beginning is spread over the whole: the time may be over before the end."""
    step = max(1, round(len(found) ** 0.5))
    return [each for start in range(step) for each in found[start::step]]


def _unfit(copy: Checkout, whole: TestRun) -> str:
    """Why the copy does not show what the tests notice; empty where it does."""
    if not whole.green:
        return f"in a copy of the project the tests fail: {whole.reason}"
    strays = copy.strays()
    if strays is None:
        return "the Python that ran the tests takes no PYTHONPATH: it may not have imported the mutants"
    return f"the tests imported {strays[0]} of the project itself, not of its copy" if strays else ""


def _remark(mutant: Mutant) -> Remark:
    return Remark(
        severity=Severity.MEDIUM,
        message=f"No test notices this fault:\n{mutant.diff}",
        file=mutant.path,
        line=mutant.line,
        suggestion="Add a test whose result is another one with this line in its place.",
    )


def feedback(mutation: Mutation) -> tuple[Remark, ...]:
    """The survivors that go back with a rejection, spread over the files."""
    return tuple(evenly(mutation.survived, _LISTED))
