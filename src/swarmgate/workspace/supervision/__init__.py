"""Programs run below a supervisor, a small process of its own beside this one: nothing that they started outlives them.

    swarmgate  --- calls --->  server  --- forks --->  supervisor of one call  --- forks --->  the program
    (`call`, `connection`)     (`server`)              (`supervisor`)                          (`program`)

Each supervisor is a child subreaper (prctl(2)): whoever loses its parent below it becomes its child, in whatever
session or environment, so that the children of one call are never taken for those of another. When the program has
ended, when swarmgate says so, lets go of the call, or is dead, however it died, its supervisor ends all that is below
it. What a supervisor that was killed leaves behind falls to the server, which ends it.

`server` and what it imports use the standard library alone: they run in an interpreter without packages.
"""
