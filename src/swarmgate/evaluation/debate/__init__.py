"""A/B evaluation of debates: the same labelled items judged by a debate and by as many independent ballots."""
