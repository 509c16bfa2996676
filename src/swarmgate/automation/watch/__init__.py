"""Watches a project: in the foreground, as a daemon, or beside a run."""
