"""Steps of a discussion that call models: the cast, the messages of a round, the conclusion."""
