"""Syntax checks of one file, a module for each group of languages; each takes bytes and returns `Problem`s."""
