"""Goals, their tasks and the work on them."""
