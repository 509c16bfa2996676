"""The roles, one file each (brief, tool loop, typed reply), and the checks on their verdicts."""
