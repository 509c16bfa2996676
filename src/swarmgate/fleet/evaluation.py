"""Evaluations that the workers of a fleet do: each labelled set, patch or item is an errand.

What came of them is put together here, as if this machine had done it all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter, ValidationError

from swarmgate.errors import EndpointFailed, FleetError, UsageError
from swarmgate.evaluation import generated_sets
from swarmgate.evaluation.debate.experiment_arms import chosen_items
from swarmgate.evaluation.debate.runs import Run
from swarmgate.evaluation.debate.statistics import Judgement
from swarmgate.evaluation.patches.rows import Row
from swarmgate.evaluation.report import EvaluationReport, SetReport
from swarmgate.fleet import errands
from swarmgate.fleet.errands import Asked, Errand
from swarmgate.fleet.facade import Fleet
from swarmgate.fleet.goals.checkout import ATTACHED
from swarmgate.fleet.work.errand import CLONES, Answer
from swarmgate.version import __version__

if TYPE_CHECKING:
    from swarmgate.domain.usage import Allowance
    from swarmgate.evaluation.debate.experiment_arms import Setup
    from swarmgate.evaluation.debate.fixtures import Fixtures
    from swarmgate.evaluation.patches.arms import Arm
    from swarmgate.evaluation.patches.measure import Job

T = TypeVar("T")
_FILE = "cases.jsonl"
PATIENCE_S = 3600.0
"""Seconds without any answer after which an evaluation ends, to be gone on with: a case takes minutes."""
_AGAIN = "Run the same command again: what is answered is not asked again"
_SHOWN = 300
"""Characters of what a failed command said that are passed on."""


def gates(
    wanted: Sequence[str] = (),
    *,
    gates: Sequence[str] = (),
    sample: int | None = None,
    seed: int = 0,
    fleet: Fleet | None = None,
    wait_s: float = PATIENCE_S,
) -> EvaluationReport:
    """Measures the gates on labelled sets that are made on the spot, a worker a set; as `evaluation.gates.evaluate`.

    Args:
        wanted: names of sets; none means all that are made on the spot.
        gates: count only cases of these gates.
        sample: at most so many cases of a set.
        seed: of the choice.
        fleet: that does it; None: that of the present folder.
        wait_s: ends when no answer came for so many seconds.

    Raises:
        UsageError: a set lies on this machine, or there is none of that name.
        FleetError: a set has no answer that counts.
        RemoteAway, QueueAway: remote or database are out of reach.
    """
    names = tuple(dict.fromkeys(wanted or generated_sets.SETS))
    for name in names:
        if name not in generated_sets.SETS:
            raise UsageError(
                f"Workers have no labelled set {name!r}: only those that are made on the spot.",
                hint=f"There are: {', '.join(generated_sets.SETS)}; measure others here, without --fleet",
            )
    at_work = fleet or Fleet()
    options = [f"--gate={gate}" for gate in gates]
    options += [f"--seed={seed}", *([f"--sample={sample}"] if sample is not None else [])]
    parts = {Errand(("eval", "gates", name, *options), depends=_settings(at_work)): name for name in names}
    found: dict[str, tuple[SetReport, ...]] = {}
    for each, answer in _to_the_end(at_work, errands.ask(at_work, list(parts)), wait_s):
        sets, problem = _read(answer, "sets", tuple[SetReport, ...])
        if sets is None:
            raise FleetError(f"The labelled set {parts[each.errand]} has no answer: {problem}.", hint=_AGAIN)
        found[parts[each.errand]] = sets
    return EvaluationReport(sets=tuple(each for name in names for each in found[name]))


def patches(
    fleet: Fleet, *, arms: Sequence[Arm], model: str, wait_s: float, tell: Callable[[str], None]
) -> Callable[[Sequence[Job]], Iterator[Row]]:
    """What has workers replay patches, an errand a patch, for `evaluation.patches.measure`.

    A row counts where its key is the one that it would have here: the same patch, arm, settings and judging code.
    Every other job gets a row that says why it has no verdict.

    Args:
        fleet: whose workers have clones (`[fleet] clones`).
        arms: which judge.
        model: as `measure` takes it.
        wait_s: ends when no answer came for so many seconds.
        tell: hears what goes on, a line each.
    """

    def replayed(todo: Sequence[Job]) -> Iterator[Row]:
        groups: dict[tuple[str, str], list[Job]] = {}
        for job in todo:
            groups.setdefault((job.patch.model, job.patch.id), []).append(job)
        wanted = {_of_patch(group, arms, model): group for group in groups.values()}
        asked = errands.ask(fleet, list(wanted))
        tell(f"{len(asked)} patches are in line, or answered")
        for each, answer in _to_the_end(fleet, asked, wait_s):
            yield from rows_of(wanted[each.errand], each, answer)

    return replayed


def _of_patch(group: Sequence[Job], arms: Sequence[Arm], model: str) -> Errand:
    argv = ("eval", "patches", f"{ATTACHED}/{_FILE}", "--repos", CLONES, "--arm", ",".join(arms))
    line = group[0].patch.model_dump_json().encode() + b"\n"
    more = ("--model", model) if model else ()
    return Errand((*argv, *more), ((_FILE, line),), depends=" ".join(job.key for job in group))


def rows_of(group: Sequence[Job], asked: Asked, answer: Answer | None) -> Iterator[Row]:
    """A row for each job of an errand: what its worker made of it, or why there is none that counts.

    Args:
        group: the jobs.
        asked: the errand.
        answer: of its worker; None: none came in time.
    """
    found, problem = _read(answer, "rows", tuple[Row, ...])
    by_arm = {row.arm: row for row in found or ()}
    for job in group:
        row = by_arm.get(job.arm)
        if row is not None and row.key == job.key:
            yield row
        elif row is not None:
            who = answer.worker if answer else ""
            yield job.untried(f"{who} judges by other settings, or is of another version: see its user's settings")
        else:
            yield job.untried(f"no answer of {asked.goal.lock}: {problem}. {_AGAIN}")


def debate(
    fleet: Fleet, fixtures: Path, *, wait_s: float, tell: Callable[[str], None]
) -> Callable[[Fixtures, Setup, Allowance], tuple[Run, int]]:
    """What has workers judge the items of the debate experiment, an errand an item, for `evaluation.debate.harness`.

    Each errand may spend its share of the allowance. Where one has no answer, the run is one that was stopped: what the
    others judged is shown, and nothing is decided.

    Args:
        fleet: whose workers reach the models.
        fixtures: the file of the items; it goes with each errand.
        wait_s: ends when no answer came for so many seconds.
        tell: hears what goes on, a line each.
    """

    def judged(known: Fixtures, setup: Setup, allowance: Allowance) -> tuple[Run, int]:
        items = chosen_items(known.items, setup)
        options = _options(setup, allowance, len(items))
        files, depends = ((_FILE, fixtures.read_bytes()),), _settings(fleet)
        parts = ((*options, "--part", f"{number}/{len(items)}") for number in range(1, len(items) + 1))
        asked = errands.ask(fleet, [Errand(argv, files, depends) for argv in parts])
        tell(f"{len(asked)} items are in line, or answered")
        run, calls = Run(planned=len(items) * setup.repeats), 0
        for each, answer in _to_the_end(fleet, asked, wait_s):
            found, problem = _read(answer, "judgements", tuple[Judgement, ...])
            if found is None:
                run.stopped = run.stopped or EndpointFailed(f"no answer of {each.goal.lock}: {problem}", hint=_AGAIN)
                tell(run.stopped.message)
                continue
            run.judgements += found
            run.done += setup.repeats
            calls += 0 if each.answer else sum(judgement.calls for judgement in found)
        run.judgements.sort(key=lambda each: (each.item, each.repeat, each.arm))
        return run, calls

    return judged


def _options(setup: Setup, allowance: Allowance, parts: int) -> tuple[str, ...]:
    """The command of every part, but for its number."""
    numbers: dict[str, object] = {
        "rounds": setup.rounds,
        "participants": setup.participants,
        "repeats": setup.repeats,
        "seed": setup.seed,
        "limit": setup.limit,
        "budget-usd": None if allowance.usd is None else allowance.usd / parts,
        "budget-tokens": None if allowance.tokens is None else allowance.tokens // parts,
    }
    given = [f"--{name}={value}" for name, value in numbers.items() if value is not None]
    named = (f"--models={','.join(setup.models)}", f"--arms={','.join(setup.arms)}", "--no-decision")
    return ("eval", "debate", f"--fixtures={ATTACHED}/{_FILE}", *named, *given)


def _settings(fleet: Fleet) -> str:
    """The hash of what answers depend on: settings, prompts and gates that go with an errand, and the version."""
    folder = fleet.folder
    files = [folder.config, *sorted(folder.prompts.rglob("*.md")), *sorted(folder.gates.rglob("*"))] if folder else []
    parts = [__version__.encode(), *(hashlib.sha256(file.read_bytes()).digest() for file in files if file.is_file())]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _to_the_end(fleet: Fleet, asked: Sequence[Asked], wait_s: float) -> Iterator[tuple[Asked, Answer | None]]:
    """All errands, those without an answer last."""
    left = {each.goal: each for each in asked}
    for each, answer in errands.answers(fleet, asked, wait_s=wait_s):
        del left[each.goal]
        yield each, answer
    for each in left.values():
        yield each, None


def _read(answer: Answer | None, key: str, kind: type[T]) -> tuple[T | None, str]:
    """What stands in an answer under a key, or why nothing does, in a sentence."""
    if answer is None:
        return None, "none came in time"
    try:
        told = json.loads(answer.stdout)
    except ValueError:
        told = None
    if answer.exit_code == 0 and isinstance(told, dict):
        try:
            return TypeAdapter(kind).validate_python(told.get(key), strict=False), ""
        except ValidationError as error:
            return None, f"{answer.worker} answers as another version does: {error.errors()[0]['msg']}"
    why = told.get("message") or told.get("partial") if isinstance(told, dict) else ""
    said = why or answer.stderr.strip()[-_SHOWN:] or f"exit code {answer.exit_code}"
    return None, f"{answer.worker} failed: {said}"
