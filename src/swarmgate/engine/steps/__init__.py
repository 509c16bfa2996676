"""The steps of the loop: each does one thing that the domain decided on, and returns events.

A step never writes state and never calls another step. What it cannot do is an event as well (a rejection, a block), or
an error that the loop puts on record as a pause. The table of them is `loop.STEPS`.
"""
