"""Runs the gates of a change, merges their findings and computes the verdict."""
