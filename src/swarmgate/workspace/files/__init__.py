"""Low-level file access: path checks, path patterns, safe reading and atomic replacement."""
