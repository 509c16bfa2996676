"""Delegation: the work branch, the next attempt at a task, and the block after the last one."""
