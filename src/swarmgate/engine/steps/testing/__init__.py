"""Testing: the test engineer's tests and attacks, and the runs that count."""
