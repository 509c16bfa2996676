"""Processes that do one piece of work each: how they start, what they do with a goal or a council, and how they end."""
