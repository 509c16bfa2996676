"""The client of one OpenAI-compatible endpoint: requests, streamed answers, refusals and adaptation to them."""
