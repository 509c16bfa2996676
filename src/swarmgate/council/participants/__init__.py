"""Participants of a council: their agent contexts, material, context windows, questions, and the session's budget."""
