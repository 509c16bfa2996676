"""The only reader and writer of `.swarm/`: ledger, hash chain, lock, projections, evidence, traces."""
