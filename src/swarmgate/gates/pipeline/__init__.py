"""Runs the gates of a change, judges what they found, and says it once."""
