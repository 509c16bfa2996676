"""Completion: the commit of a task, and the end of a phase."""
