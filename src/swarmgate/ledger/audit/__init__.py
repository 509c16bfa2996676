"""The checks of `swarm verify`: chain, transitions, projections, evidence, commits, anchors."""
