"""Detects unfinished work: placeholders, stubs and sample values, told apart from what is rightly empty.

`words` knows the phrases, `bodies` judges a function from its steps; `python` (by `ast`) and `trees` (by tree-sitter)
make functions and comments out of a file, `data` reads string values, `skipped` looks at tests that are switched off.
"""
