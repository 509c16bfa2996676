"""Anchors of the ledger in git's folder, and the checks against them before each write."""
