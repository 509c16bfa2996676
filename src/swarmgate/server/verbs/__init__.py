"""The verbs of the server at a terminal: `swarm serve`, and `swarm server` for who operates it."""
