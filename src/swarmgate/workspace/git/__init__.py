"""Reads and writes git repositories through one driver of the `git` command."""
