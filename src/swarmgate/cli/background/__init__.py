"""Verbs of what works beside the loop."""
