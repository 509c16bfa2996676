"""Git as swarmgate uses it: one driver, and what is read from and written to repositories with it."""
