"""`swarm verify`: the chain, the laws, the projections, the evidence, the commits, the anchors."""
