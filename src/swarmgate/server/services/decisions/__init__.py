"""What waits for a person, and what they decide."""
