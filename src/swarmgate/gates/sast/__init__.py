"""Static security analysis: our rule pack and its engine, bandit, ruff's S rules, and merging their results."""
