"""Quality gates: run tools over a change, collect their findings and decide whether the change passes. No model.

definition.py   what a gate is: `gates/<id>.toml` and the project's `.swarm/gates/<id>.toml`
project/        what paths tell: languages, tests, code, modules; the two trees of a change
source/         a changed file as a pair of revisions, read once; which findings the change introduced
job.py          what an adapter gets and what it gives back
adapters/       the built-in scanners, one module each
pipeline.py     runs the gates of a change and makes the report
report.py       the report as lines for people
"""
