"""What others change while a run is at work: the plan by hand, the branch, and files that git ignores."""
