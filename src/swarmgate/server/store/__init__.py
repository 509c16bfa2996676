"""State of the server that can be dropped: in SQLite or Redis."""
