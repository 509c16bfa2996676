"""Writes `.swarm/config.toml`, preserving the user's comments and order."""
