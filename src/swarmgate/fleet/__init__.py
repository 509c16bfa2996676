"""The fleet: many goals on many machines. The truth stays in git; a PostgreSQL database hands out the work.

goals    a goal's ledger and branch in a remote: clones, leases, publication
queue    which goal is worked on next, and by whom: jobs of Procrastinate, tokens, workers
work     one goal brought forward, and the process that does so
facade   `Fleet`: what a person does with goals
errands  many commands that workers run, each asked once, and their answers
evaluation, served   `swarm eval ... --fleet`, and the fleet as a team server sees it
verbs    `swarm worker`, `swarm fleet`
"""
