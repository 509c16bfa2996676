"""Plan sync: takes edits of plan.md and plan.json into the ledger."""
