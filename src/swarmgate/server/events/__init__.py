"""The feed: events of all goals and councils in one order."""
