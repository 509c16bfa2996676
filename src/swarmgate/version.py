"""The version of swarmgate, for all that tells it; `pyproject.toml` says the same, which a test compares."""

__version__ = "0.1.0"
