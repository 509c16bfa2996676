"""Carries events to workers, each behind its circuit breaker, time limit and loop protection."""
