"""The work tree as the agents' file tools see it: guarded, bounded, searched."""
