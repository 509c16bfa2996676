"""Which programs may be started, and that no module is imported from where agents write."""
