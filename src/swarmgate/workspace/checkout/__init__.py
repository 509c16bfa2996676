"""Creates clean checkouts of a git tree to run tests in, with the ignored files that the tests need."""
