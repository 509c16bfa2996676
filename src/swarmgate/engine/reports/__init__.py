"""Reports for users: status, outcome, failures and models."""
