"""The critique pattern: an author writes a version, an evaluator scores it, and it is improved until good enough."""
