"""Whether a debate is worth its cost: the same labelled items judged by a debate and by as many independent ballots."""
