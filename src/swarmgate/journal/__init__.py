"""An append-only, hash-chained log of typed events, in files, SQLite or Redis: the ledger, and records of councils."""
