"""Programs of agents in the user's tree: the files that they are, what instructs them, and who could write those."""
