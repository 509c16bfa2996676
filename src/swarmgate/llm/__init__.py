"""Talks to models: the `Model` protocol, its adapters, and the wrappers around them.

`connect.connect` composes the layers of one role, from the wire outwards:

    openai_model  one call to one endpoint          (assembly, json_tools, dialect: what the wire looks like)
    trace         every call recorded, redacted
    retry         the same call again, later
    fallback      the next model
    budget        money and tokens, before and after

`scripted` and `recorded` are models without an endpoint. Nothing here writes files: recorders are handed in.
"""
