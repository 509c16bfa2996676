"""Parses shell command lines and decides, before they run, whether an agent may run them.

`policy.judge` is the door. `reading` turns a line into the simple commands that it would start, quotes, variables and
wrappers such as `sh -c`, `env` or `xargs` resolved as far as they stand in the line; the `*_rules` judge each of them.
"""
