"""The only writer of `.swarm/config.toml`: comments and order stay as the user left them."""
