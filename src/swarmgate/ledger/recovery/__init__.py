"""Recovers a ledger whose writer died: clears unfinished work, restores lost lines."""
