"""Builds and type checks of a project, in the work tree and in the revision before it."""
