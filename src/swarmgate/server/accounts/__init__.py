"""Accounts, their roles, and what proves who somebody is."""
