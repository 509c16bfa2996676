"""Renders a discussion: artifact files, HTML page, progress.md, replay, and lines for a terminal."""
