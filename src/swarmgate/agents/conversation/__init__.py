"""One turn of a role: a conversation with its model, with tool calls, until one call ends the turn."""
