"""The gates without the loop: what `swarm gates` does in any git repository, with or without `.swarm/`.

Each verb has a module: `run`, `baseline`, `list_gates`, `explain`, `doctor`.
"""
