"""Proof: whether tests that passed would have noticed what they are there to notice."""
