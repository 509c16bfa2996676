"""Review: gates and reviewers judge the change, with a debate where it is enabled."""
