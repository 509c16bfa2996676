"""Checks the imports of Python files: modules, names, attributes and arguments."""
