"""Events of ledger and automation: listed, followed, and told in words."""
