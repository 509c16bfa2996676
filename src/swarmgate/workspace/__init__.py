"""Gives access to the user's repository: the only place that starts processes, runs git and touches project files."""
