"""Structured discussions: experts who oppose each other, rounds of typed messages, what is measured, a synthesis."""
