"""Runs tools to judge a change: definition -> run the tool -> findings -> result. Never a model.

definition.py   what a gate is: `gates/<id>.toml` and the project's `.swarm/gates/<id>.toml`
files.py        which files of a change a gate looks at, and why others are left out
job.py          what an adapter gets and what it gives back
adapters/       the built-in scanners, one module each
baseline.py     fingerprints: what the change introduced and what stood there before
pipeline.py     runs the gates of a change and makes the report
report.py       the report as lines for people
"""
