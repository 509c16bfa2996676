"""Budgets that limit usage, and the estimate of what a phase will use."""
