"""An append-only, hash-chained log of typed events, in files, SQLite or Redis: for the ledger and for councils."""
