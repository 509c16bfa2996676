"""Scripted sessions of the council's verbs, which `benchmarks/council_sessions.py` plays and compares."""
