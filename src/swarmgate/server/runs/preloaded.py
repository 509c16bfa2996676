"""Loads all that a worker may need, once: the process that workers are forked from imports this, and nothing else does.

Rooms import late for the start-up time of commands; a worker would pay that again with every approval.
"""

from swarmgate.council.patterns import PATTERNS, pattern

LOADED = tuple(pattern(name).name for name in PATTERNS)
"""The patterns of councils, whose modules are named in a table."""
