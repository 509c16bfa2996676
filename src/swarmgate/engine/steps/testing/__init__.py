"""Testing: the test engineer's tests, adversarial tests, and the measured test runs."""
