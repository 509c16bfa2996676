"""Queue of the work that the server does, and the processes that do it."""
