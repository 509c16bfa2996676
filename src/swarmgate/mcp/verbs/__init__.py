"""The verb `swarm mcp`."""
