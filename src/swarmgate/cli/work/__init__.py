"""Verbs that drive the work: from a goal to commits, and what the user decides on the way."""
