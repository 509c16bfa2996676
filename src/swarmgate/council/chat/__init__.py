"""The chat pattern: agents send each other messages until one of them, a limit or silence ends the chat."""
