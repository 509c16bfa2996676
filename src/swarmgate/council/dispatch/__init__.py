"""The dispatch pattern: tasks for participants, run singly, in parallel, in a chain, or as a debate."""
