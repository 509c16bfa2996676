"""Registered repositories, and the clones in which goals are worked on."""
