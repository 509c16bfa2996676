"""Machine-readable files of `.swarm/`: their paths, and how each is read and replaced."""
