"""What the loop does between two steps: hand edits, the branch, ignored files, and preflight before a phase."""
