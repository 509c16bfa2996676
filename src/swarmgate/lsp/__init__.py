"""The Language Server Protocol: findings of gates in texts that are not saved yet, and the tasks of plan.md."""
