"""A supervisor starts each process, and outlives us long enough to end what we left behind."""
