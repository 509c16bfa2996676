"""Taint analysis of Python: follows values from outside input to dangerous calls."""
