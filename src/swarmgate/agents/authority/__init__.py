"""Write authority of roles: which files each role may change, by step, by globs and by declared scope."""
