"""Verbs of the council: debates, decisions, discussions, critiques, chats and dispatches."""
