"""The external tools that gates start: where they are, how they are run, and the bundled ruff."""
