"""The Model Context Protocol: gates, proof and councils as tools inside of the agent that somebody already uses.

The package of the protocol has the same name (`mcp`); imports here are absolute, so that each is what it says.
"""
