"""Checks of the loop between two steps: hand edits, branch, git-ignored files, preflight of a phase."""
