"""A changed file, read once: its two revisions, what they hold, and which findings the change brought."""
