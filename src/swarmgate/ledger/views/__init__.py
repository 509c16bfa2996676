"""Views of the state stored in `.swarm/`: plan.md, plan.json, history."""
