"""Canaries: tests of our own with random names that run among the project's, some of which must fail.

A test runner shares its process with the code that it judges. `inside` is what runs there: it puts canaries between
the project's tests and says of each test what came of it, at once and through a channel from which nothing can be taken
back. `channel` reads what is said, `verdict` decides what it means, and `control` does what can be done for runners
that load nothing of ours.
"""
