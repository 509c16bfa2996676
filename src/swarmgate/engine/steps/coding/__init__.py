"""Coding: the turn of the coder, and what its change may reach and take away."""
