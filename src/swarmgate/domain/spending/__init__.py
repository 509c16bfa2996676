"""What may still be used up, and what a phase is expected to use."""
