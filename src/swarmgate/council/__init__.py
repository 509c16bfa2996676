"""Councils: several participants answer one question in rounds, within limits; every event is recorded.

A room without files of its own: whoever asks brings the voices (`participants.voices`) and a place for the record.
"""
