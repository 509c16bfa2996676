"""Verbs that drive the work from a goal to commits, and record the user's decisions."""
