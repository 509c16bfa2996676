"""The discussion pattern: opposed experts exchange typed messages in rounds, which are measured and synthesized."""
