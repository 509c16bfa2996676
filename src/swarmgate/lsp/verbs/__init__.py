"""The verb `swarm lsp`."""
