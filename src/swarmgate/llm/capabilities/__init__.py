"""Determines the capabilities of models by probes and endpoint data, and derives settings from them."""
