"""Readers of manifests and lock files, one module a format."""
