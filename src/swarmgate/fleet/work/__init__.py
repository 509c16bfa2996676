"""The work itself: one goal brought forward, and the process that takes one after the other."""
