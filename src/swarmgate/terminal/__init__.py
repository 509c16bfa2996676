"""What the verbs of every face share at a terminal: options, results, progress, and errors as exit codes."""
