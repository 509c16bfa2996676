"""Reads and writes context.md: decisions, and the guidance of experts."""
