"""Readers of manifests and lock files, one a format."""
