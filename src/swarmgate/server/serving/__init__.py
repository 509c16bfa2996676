"""Composes the server from its rooms, and serves it."""
