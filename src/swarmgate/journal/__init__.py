"""An append-only, hash-chained log of typed events, in files or SQLite: for the ledger and the records of councils."""
