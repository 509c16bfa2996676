"""What a person does with the goals of a fleet."""
