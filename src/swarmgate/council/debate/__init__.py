"""A debate: several voices on one question in rounds, a vote, and what the architect makes of it."""
