"""Makes untrusted text safe for pages, terminals, JSON and records."""
