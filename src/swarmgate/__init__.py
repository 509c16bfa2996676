"""swarmgate drives a coding project phase by phase and proves every step with local quality gates.

The command is `swarm`; the library's front door is `swarmgate.engine.Swarm`. Importing this package does nothing else.
"""

__version__ = "0.1.0"
