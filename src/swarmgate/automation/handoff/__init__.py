"""Handoff: one page that lets somebody else go on."""
