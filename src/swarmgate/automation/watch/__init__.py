"""The watcher of a project: in the foreground, as a daemon, or during a run."""
