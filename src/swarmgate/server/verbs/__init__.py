"""Verbs of the server: `swarm serve` and `swarm server`."""
