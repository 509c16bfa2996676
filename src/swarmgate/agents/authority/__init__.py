"""What a role may write: by its name and step, by globs, by the scope declared for the task."""
