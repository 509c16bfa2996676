"""The demonstrations of `swarm demo`: the loop, and a debate, with a scripted model."""
