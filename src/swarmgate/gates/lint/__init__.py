"""The linters and formatters of languages other than Python, where a project has them installed."""
