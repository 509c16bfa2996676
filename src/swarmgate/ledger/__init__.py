"""The only reader and writer of `.swarm/`: the ledger, its chain and lock, projections, evidence, traces."""
