"""Finds secrets in text, tells real ones from examples, and redacts them."""
