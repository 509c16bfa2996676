"""What a test command would run: which files its runner collects, by its own word (`listing`) and by its rules."""
