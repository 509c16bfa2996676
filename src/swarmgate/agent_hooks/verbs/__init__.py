"""The verbs of this face."""
