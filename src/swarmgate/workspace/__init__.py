"""The user's tree: the only place for processes, git, diffs and files."""
