"""What councils leave with the ledger: their sessions, and the heads of their records."""
