"""The state of a project, and what is read off it: the life cycle of a task, the plan as it is shown."""
