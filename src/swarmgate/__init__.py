"""swarmgate drives a coding project phase by phase and proves every step with local quality gates.

The command is `swarm`. As a library it has a public face, which docs/api.md lists and whose changes follow semantic
versioning; everything else may change with any version:

    import swarmgate, swarmgate.gates

    swarm = swarmgate.Swarm("my-repo")                      # the loop: plan, approve, run, status, verify
    outcome = await swarm.council.debate("Is it sound?")    # councils
    judged = swarmgate.gates.check("my-repo", "main")       # the gates alone: no model, no .swarm/

Importing this package loads nothing else, of Python's own modules neither: at a command's start, the folders of the
project that stand on PYTHONPATH have not been taken out yet, and a typing.py may lie there.
"""

from swarmgate.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from swarmgate.engine.swarm import Swarm
    from swarmgate.errors import SwarmError

__all__ = ["Swarm", "SwarmError", "__version__"]


def __getattr__(name: str) -> object:
    # Late (PEP 562): `import swarmgate` costs nothing, and a gate in a hook needs none of the loop.
    if name == "Swarm":
        from swarmgate.engine.swarm import Swarm  # noqa: PLC0415 - see above

        return Swarm
    if name == "SwarmError":
        from swarmgate.errors import SwarmError  # noqa: PLC0415 - see above

        return SwarmError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
