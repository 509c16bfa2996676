"""The event union of the ledger, by what its events tell of: planning, runs, tasks, debates."""
