"""Guards of a turn: command policy, permissions, tools that are not offered, circuit breakers."""
