"""Requests as people write them, in code and in files: checked before anybody is asked anything."""
