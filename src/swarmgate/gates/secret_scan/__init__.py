"""Where secrets stand in text, whether they are real, and text without them."""
