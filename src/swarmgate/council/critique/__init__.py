"""Self-critique: one voice makes a version, another judges it, and it is improved until it is good enough."""
