"""Tells people elsewhere that something needs them."""
