"""What is done in a discussion with the voices: the cast, the messages of a round, the conclusion."""
