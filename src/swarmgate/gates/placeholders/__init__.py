"""Detects unfinished work: placeholders, stubs and sample values, told apart from what is rightly empty.

`wording` searches for phrases, `function_bodies` decides whether a body is a stub; `python` (by `ast`) and `trees` (by
tree-sitter) extract functions and comments, `sample_values` checks strings, `skipped_tests` finds skipped tests.
"""
