"""Analyzes and rewrites source code by its syntax: definitions, executed lines, mutants."""
