"""Reports on evidence: how complete it is for each attempt, and the summary of one task."""
