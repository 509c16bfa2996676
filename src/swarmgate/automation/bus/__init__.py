"""The event bus: queues ledger events for workers, each behind a circuit breaker, a time limit and loop protection."""
