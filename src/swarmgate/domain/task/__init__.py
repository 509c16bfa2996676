"""Rules over the attempts at a task: ways out of a block, patterns of failure, contested reviews."""
