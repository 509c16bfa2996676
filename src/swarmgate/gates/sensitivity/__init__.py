"""Decides whether a change touches security-sensitive code, by paths, imports and calls."""
