"""What is derived from the state and lies in `.swarm/` for people and programs: plan.md, plan.json, history."""
