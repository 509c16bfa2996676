"""Hand edits of plan.md and plan.json: compared with the ledger, accepted or quarantined."""
