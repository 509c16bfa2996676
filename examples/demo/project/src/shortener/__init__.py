"""A tiny URL shortener."""
