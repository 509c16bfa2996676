"""Verbs of the council: several roles talk, outside of a run."""
