"""Preflight: what is looked at before a phase, a module for each group of checks; `checks` has their table."""
