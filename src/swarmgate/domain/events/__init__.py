"""The event union of the ledger, by subject: planning, runs, tasks, debates; and automation's own events."""
