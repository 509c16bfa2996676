"""Source code by its syntax: what it defines, which lines run, and small faults put into it."""
