"""What is on record: ledger, evidence, cost, gates, councils, agents."""
