"""What the user wrote into plan.md and plan.json: read against the ledger, or put into the quarantine."""
