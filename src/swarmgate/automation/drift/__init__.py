"""Decision drift: compares recorded decisions with later plans, texts and dependencies, without a model."""
