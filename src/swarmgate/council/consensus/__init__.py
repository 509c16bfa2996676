"""Decisions by several: what may be asked for, what voices are told, how answers are read, and the rounds."""
