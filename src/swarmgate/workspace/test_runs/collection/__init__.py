"""Determines which files a test command collects: by the runner's own listing and by its rules."""
