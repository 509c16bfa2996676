"""What wraps a model: retries, fallback, traces, answers from the record."""
