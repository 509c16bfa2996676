"""One append-only, hash-chained log of typed events, over files or SQLite: the ledger, and each council's record."""
