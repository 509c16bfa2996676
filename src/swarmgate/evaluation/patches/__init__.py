"""Measures whether patches of real agents, right and wrong, would have got in: `swarm eval patches`."""
