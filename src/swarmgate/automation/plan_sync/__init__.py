"""Plan sync: records hand edits of plan.md and plan.json in the ledger."""
