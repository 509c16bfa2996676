"""Delegation: the branch of the work, the next attempt at a task, and the end of the attempts."""
