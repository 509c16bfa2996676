"""Review: gates and reviewers judge the change, alone or in a debate."""
