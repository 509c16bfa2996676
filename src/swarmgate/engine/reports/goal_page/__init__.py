"""`swarm report`: one page of HTML about a goal or a phase of it, with plots; collected, drawn, written."""
