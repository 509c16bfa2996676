"""Requests for councils, from code or files, validated before a model is called."""
