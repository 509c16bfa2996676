"""What the voices of a discussion answer, as typed fields."""
