"""Evidence: how complete it is, how long it is kept, and the summaries of long tasks."""
