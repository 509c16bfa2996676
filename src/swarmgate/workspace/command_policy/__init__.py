"""What a command line would do, read by a shell parser and judged before it runs: the line before the sandbox.

`policy.judge` is the door. `reading` turns a line into the simple commands that it would start, quotes, variables and
wrappers such as `sh -c`, `env` or `xargs` resolved as far as they stand in the line; the `*_rules` judge each of them.
"""
