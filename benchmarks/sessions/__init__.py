"""Scripted sessions of the council's verbs: `benchmarks/council_sessions.py` plays and compares them."""
