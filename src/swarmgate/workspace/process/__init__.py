"""Starts processes under supervision, limits them, and ends them with everything that they started."""
