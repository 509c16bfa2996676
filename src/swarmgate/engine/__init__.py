"""The loop, its steps, the composition root and the public facade.

from swarmgate.engine import Swarm
"""

from swarmgate.engine.swarm import Swarm

__all__ = ["Swarm"]
