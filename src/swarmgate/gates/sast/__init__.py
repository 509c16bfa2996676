"""What `sast_scan` is made of: our rule pack and its engine, bandit, ruff's S rules, and how they become one list."""
