"""Parses the text of a model's answer: words, tool calls and reasoning; and offers tools as text."""
