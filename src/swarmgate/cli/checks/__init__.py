"""Verbs that check a change, a command line, the settings, models or agent programs."""
