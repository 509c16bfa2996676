"""Verbs of background automation."""
