"""What the ledger stores about councils: their sessions, and the heads of their records."""
