"""The endpoints of ADR 0007, in the envelope of its reference."""
