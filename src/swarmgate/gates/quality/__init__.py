"""Measures what a change adds in complexity, public names, copies, size and suppressions."""
