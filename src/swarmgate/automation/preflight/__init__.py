"""Preflight: checks before a phase begins, one module a group; `checks` holds their table."""
