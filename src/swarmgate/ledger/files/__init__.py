"""The files of `.swarm/` that are no page: where they lie, and how each is read and replaced."""
