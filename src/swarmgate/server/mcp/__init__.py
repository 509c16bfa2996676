"""The Model Context Protocol over HTTP: the tools of `swarm mcp` for the goals of a team server, as roles allow."""
