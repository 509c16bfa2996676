"""Rate limits and quotas: when they end, by headers and words, and who waits for that."""
