"""Runs the user's tests and measures them: counts, names, collected tests, forged results."""
