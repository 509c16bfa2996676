"""Quality gates: run tools over a change, collect their findings and decide whether the change passes. No model.

definition.py   what a gate is: `gates/<id>.toml` and the project's `.swarm/gates/<id>.toml`
project/        what paths tell: languages, tests, code, modules; the two trees of a change
source/         a changed file as a pair of revisions, read once; which findings the change introduced
job.py          what an adapter gets and what it gives back
adapters/       the built-in scanners, one module each
pipeline.py     runs the gates of a change and makes the report
report.py       the report as lines for people
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swarmgate.gates.verbs.check import check
    from swarmgate.gates.verbs.run import Judged

__all__ = ["Judged", "check"]


def __getattr__(name: str) -> Any:
    # Late (PEP 562): modules of this room are imported one by one, by a command that has to answer at once.
    if name == "check":
        from swarmgate.gates.verbs.check import check  # noqa: PLC0415 - see above

        return check
    if name == "Judged":
        from swarmgate.gates.verbs.run import Judged  # noqa: PLC0415 - see above

        return Judged
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
