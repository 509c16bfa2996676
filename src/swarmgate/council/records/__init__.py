"""What is remembered of a council: its record, the life cycle that every record holds, secrets taken out."""
