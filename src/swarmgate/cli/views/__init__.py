"""Verbs that show what is on record, and change nothing."""
