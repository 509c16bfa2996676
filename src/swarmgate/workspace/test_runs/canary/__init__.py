"""Canaries: our own randomly named tests within a test run, some of which must fail, to detect forged results.

A test runner shares its process with the code that it judges. `inside` is what runs there: it puts canaries between
the project's tests and says of each test what came of it, at once and through a channel from which nothing can be taken
back. `channel` reads what is said, `verdict` decides what it means, and `control_run` does what can be done for runners
that load nothing of ours.
"""
