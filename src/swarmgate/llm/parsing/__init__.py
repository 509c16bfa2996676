"""From the text of an answer to what it says, what it calls, and what of it was thinking; and tools told as text."""
