"""`swarm pr`: describes the goal's work from its record, pushes its branch, and opens a pull request."""
