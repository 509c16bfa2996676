"""Remotes and the forges that host them: pushes a branch, and opens a pull request for it."""
