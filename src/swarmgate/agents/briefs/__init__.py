"""Briefs: the first message of a role, made of headers, sections, feedback on earlier attempts and project rules."""
