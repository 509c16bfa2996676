"""A clean checkout of a tree, where tests run that decide, with what they need of ignored files."""
