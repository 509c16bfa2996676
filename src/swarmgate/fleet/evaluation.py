"""An evaluation that the workers of a fleet do: each labelled set is an errand, and their reports are put together."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from swarmgate.errors import FleetError, UsageError
from swarmgate.evaluation import generated_sets
from swarmgate.evaluation.report import EvaluationReport
from swarmgate.fleet.facade import Fleet


def gates(
    wanted: Sequence[str] = (),
    *,
    gates: Sequence[str] = (),
    sample: int | None = None,
    seed: int = 0,
    fleet: Fleet | None = None,
) -> EvaluationReport:
    """Measures the gates on labelled sets that are made on the spot, a worker a set; as `evaluation.gates.evaluate`.

    Args:
        wanted: names of sets; none means all that are made on the spot.
        gates: count only cases of these gates.
        sample: at most so many cases of a set.
        seed: of the choice.
        fleet: that does it; None: that of the present folder.

    Raises:
        UsageError: a set lies on this machine, or there is none of that name.
        FleetError: a worker could not do its part.
        RemoteAway: the remote is out of reach.
    """
    names = tuple(wanted or generated_sets.SETS)
    for name in names:
        if name not in generated_sets.SETS:
            raise UsageError(
                f"Workers have no labelled set {name!r}: only those that are made on the spot.",
                hint=f"There are: {', '.join(generated_sets.SETS)}; measure others here, without --fleet",
            )
    at_work = fleet or Fleet()
    options = [part for gate in gates for part in ("--gate", gate)]
    options += ["--seed", str(seed), *(["--sample", str(sample)] if sample is not None else [])]
    asked = [at_work.ask(["eval", "gates", name, *options]).goal for name in names]
    parts = [
        _report(name, answer.stdout, answer.stderr) for name, answer in zip(names, at_work.answers(asked), strict=True)
    ]
    return EvaluationReport(sets=tuple(each for part in parts for each in part.sets))


def _report(name: str, stdout: str, stderr: str) -> EvaluationReport:
    try:
        return EvaluationReport.model_validate_json(stdout)
    except ValidationError:
        raise FleetError(f"The worker that judged {name} failed: {(stderr or stdout).strip()[-500:]}") from None
