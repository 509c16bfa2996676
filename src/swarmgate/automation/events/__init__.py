"""Events of ledger and automation: listed, followed, and described in a line each."""
