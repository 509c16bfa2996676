"""Handoff: one page with which another person or architect can continue the work."""
