"""Terminal functions that all verbs share: options, results, progress, and errors as exit codes."""
