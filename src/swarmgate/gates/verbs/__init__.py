"""The commands of `swarm gates`, which work in any git repository, with or without `.swarm/`.

Each verb has a module: `run`, `baseline`, `list_gates`, `explain`, `doctor`.
"""
