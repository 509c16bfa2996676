"""Transitions: how each event changes the state, and when it is illegal; `fold` applies them all."""
