"""Reads test files as suites of cases: assertions, their strength, parameters, and skips."""
