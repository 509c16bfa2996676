"""Parses the answers of the participants of a discussion into typed fields."""
