"""Runs of the user's tests, and what they measured: counts, names, collected tests, forgeries."""
