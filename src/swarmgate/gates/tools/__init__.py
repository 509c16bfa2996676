"""The tools that gates start: where they are, how they are run, and the ruff that came with swarmgate."""
