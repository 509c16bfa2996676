"""swarmgate against one agent alone: both work on the same tasks with the same model, and hidden tests decide."""
