"""What users read of a project: status, outcome, failures and models."""
