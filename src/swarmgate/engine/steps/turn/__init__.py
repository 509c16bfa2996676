"""Checks around every agent turn: unauthorised writes and tripped breakers."""
