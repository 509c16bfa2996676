"""The terminal as all verbs use it: options, results, progress, errors as exit codes."""
