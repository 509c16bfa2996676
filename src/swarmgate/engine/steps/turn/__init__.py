"""Around every turn of an agent: what it wrote beyond its right, what it left, and what ends it."""
