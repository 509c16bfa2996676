"""The verbs `swarm worker` and `swarm fleet`."""
