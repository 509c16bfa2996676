"""Rate limits and quotas: when they reset, and which calls wait for that."""
