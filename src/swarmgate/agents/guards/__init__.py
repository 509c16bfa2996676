"""Guards at an agent's hand: commands, permissions, tools not offered, breakers."""
