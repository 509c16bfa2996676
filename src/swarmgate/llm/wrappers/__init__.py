"""Wrappers around a model: retries, fallback, traces, replayed answers."""
