"""A changed file in its two revisions, read and parsed once, and which findings are new in it."""
