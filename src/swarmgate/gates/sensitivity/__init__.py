"""Whether a change touches security-sensitive code, by its paths and by what the changed code imports and calls."""
