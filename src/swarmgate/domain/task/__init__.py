"""Rules over the attempts at a task: remedies of a block, patterns of failure, debated reviews."""
