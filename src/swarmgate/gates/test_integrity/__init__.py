"""Detects tests that a change weakens: the parts of the gate test_integrity.

`suites` parses test files into cases and rates their assertions, `matching` pairs old and new tests, `comparison`
compares each pair, and `analysis` decides what blocks. `runners` and `hooks` check the configuration of test runners,
`special_cases` product code that is written for one test.
"""
