"""Sandboxes for commands of agents: repository writable, the rest of the machine read-only or hidden, no network.

`choose` finds what this machine offers; every kind has the same interface, and a refusal says what to install.
"""
