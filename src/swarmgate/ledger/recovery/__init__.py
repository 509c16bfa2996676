"""Opens a ledger that somebody died over: what is unfinished is cleared up, what is lost is brought back."""
