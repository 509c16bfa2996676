"""The loop, its steps, the composition root and the public facade `Swarm`.

from swarmgate.engine import Swarm
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swarmgate.engine.swarm import Swarm

__all__ = ["Swarm"]


def __getattr__(name: str) -> Any:
    # Late (PEP 562): `swarm gates run` needs a module of this room and none of the loop, 0.1 s of imports.
    if name == "Swarm":
        from swarmgate.engine.swarm import Swarm  # noqa: PLC0415 - see above

        return Swarm
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
