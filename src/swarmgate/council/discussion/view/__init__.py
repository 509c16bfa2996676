"""What is made of a discussion to be read: artifacts, the page, progress.md, replays, lines for a terminal."""
