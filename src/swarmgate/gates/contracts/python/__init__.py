"""Public API of Python modules: extraction, breaking changes, and their users."""
