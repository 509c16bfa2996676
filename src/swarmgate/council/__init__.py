"""The council: several voices on one question, bounded in rounds, tokens and time, every word on record.

A room without files of its own: whoever asks brings the voices (`participants.voices`) and a place for the record.
"""
