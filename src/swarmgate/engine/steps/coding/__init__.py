"""Coding: the coder's turn, and the checks of its change against scope and existing tests."""
