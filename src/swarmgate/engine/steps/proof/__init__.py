"""Proof: checks whether passing tests would detect a missing or faulty change."""
