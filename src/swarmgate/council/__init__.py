"""Councils: several participants answer one question in rounds, within limits; every event is recorded.

The room has no files of its own: callers pass the agent contexts (`participants.contexts`) and a record store.
"""
