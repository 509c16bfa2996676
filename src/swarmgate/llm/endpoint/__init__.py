"""One OpenAI-compatible endpoint: the form of a request, the answer as it arrives, what is refused and learnt."""
