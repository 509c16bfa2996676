"""Hooks: the user's own commands on events."""
