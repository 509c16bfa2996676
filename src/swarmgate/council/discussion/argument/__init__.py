"""Argument structure of a discussion: links between messages, agreement, and the argument graph."""
