"""Finds trusted programs to start, and keeps Python from importing modules that agents wrote."""
