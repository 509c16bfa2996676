"""Planning: the plan, its review by the critic, and what a phase is expected to use."""
