"""Hooks: the user's own commands, run on events."""
