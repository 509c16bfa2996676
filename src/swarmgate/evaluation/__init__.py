"""Measures the system itself: how often the gates are right, on labelled data that nobody here wrote."""
