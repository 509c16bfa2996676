"""Contracts of Python modules: their surfaces, what a change breaks of them, and who uses that."""
