"""What `swarm demo` shows: the loop, and a debate, with a scripted model."""
