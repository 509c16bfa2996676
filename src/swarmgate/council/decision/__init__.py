"""The decision pattern: rounds of contributions, a tally by a consensus strategy, and a facilitator's synthesis."""
