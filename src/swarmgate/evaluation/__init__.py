"""Evaluations of swarmgate itself on labelled data: gates, agent programs and debates."""
