"""Planning: the plan, its review by the critic, and the estimate of a phase."""
