"""What a change adds in complexity, public names, copies, size and suppressions, as deltas against its base."""
