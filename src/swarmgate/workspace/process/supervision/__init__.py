"""Supervisor processes: each starts one program, and ends what is left of it even when swarmgate dies."""
