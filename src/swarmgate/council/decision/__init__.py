"""Decisions by several: rounds of contributions, a count by a strategy, and the facilitator's synthesis of each."""
