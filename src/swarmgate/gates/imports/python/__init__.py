"""Imports of Python files: whether modules, names, attributes and arguments are there."""
